import { after, before } from 'node:test';
import { makeDatabase, startServer, type TestServer } from '../../../test/support/postgres.ts';
import { testStore } from '../contract.ts';
import { readAddress } from './address.ts';
import { openPostgresStore } from './store.ts';

const given = process.env['STINT_TEST_PG'];
let server: TestServer | undefined;
let url = given ?? '';
before(async () => {
  if (given !== undefined) return;
  server = await startServer();
  ({ url } = server);
});
after(async () => server?.remove());

testStore({
  name: 'postgres',
  open: async (t, kinds) => {
    const database = await makeDatabase(url);
    const address = readAddress(database.url, 'test');
    if (!address.ok) throw new Error(address.error.message);
    const opened = await openPostgresStore(address.value, kinds, { create: true });
    if (opened === undefined) throw new Error('no store was made');
    t.after(async () => {
      await opened.store.close();
      await database.drop();
    });
    return opened.store;
  },
});
