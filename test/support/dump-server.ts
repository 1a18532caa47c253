/** Prints every row of every table of a project on a server, as JSON: for tests that look at a store from outside. */
import pg from 'pg';

const [, , url = '', schema = ''] = process.argv;
const client = new pg.Client({
  connectionString: url,
  types: {
    getTypeParser: (oid, format) => (oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format)),
  },
});
await client.connect();
const { rows: tables } = await client.query(
  'SELECT tablename FROM pg_tables WHERE schemaname = $1 ORDER BY tablename',
  [schema],
);
/** In the order in which they were written, as those of a file are. */
const orders: Readonly<Record<string, string>> = {
  event: 'id',
  mirror: 'id',
  process: 'rowid',
  lease: 'session, step',
};
const dump: Record<string, unknown> = {};
for (const { tablename } of tables) {
  const { rows } = await client.query(`SELECT * FROM "${schema}"."${tablename}" ORDER BY ${orders[tablename] ?? '1'}`);
  dump[tablename] = rows;
}
process.stdout.write(JSON.stringify(dump));
await client.end();
