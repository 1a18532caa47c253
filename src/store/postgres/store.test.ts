import { useDatabase, useServer } from '../../../test/support/postgres.ts';
import { testStore } from '../contract.ts';
import { readAddress } from './address.ts';
import { openPostgresStore } from './store.ts';

const server = useServer();

testStore({
  name: 'postgres',
  open: async (t, kinds) => {
    const address = readAddress(await useDatabase(t, server), 'test');
    if (!address.ok) throw new Error(address.error.message);
    const opened = await openPostgresStore(address.value, kinds, { create: true });
    if (opened === undefined) throw new Error('no store was made');
    t.after(opened.store.close);
    return opened.store;
  },
});
