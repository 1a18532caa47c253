/**
 * For authors of kinds and of stores: what the built-in ones are held against. `testStore` registers tests with
 * `node:test`; `exploreKind` is plain data for any runner.
 */
export { exploreKind, type Exploration } from './kernel/explore.ts';
export { testStore, type StoreFixture } from './store/contract.ts';
