/** The scenarios of the original scripts, by the runner that lies beside the repository. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { repository, shared, withoutShared } from './support/world.ts';

/** Scenarios that differ on purpose: docs/guides/coming-from-handoff-scripts.md says why. */
const different = { handoff: ['X05'], bundle: ['S18', 'S21a', 'S21e', 'S21j'] };

const missing = withoutShared('handoff-pack', 'run.py');
const python = spawnSync('python3', ['--version']).status === 0;

for (const [part, expected] of Object.entries(different))
  it(
    `the scenarios of the ${part} scripts hold, apart from those that differ on purpose`,
    { skip: missing === false && !python ? 'python3 is not there' : missing },
    (context) => {
      const home = mkdtempSync(join(tmpdir(), 'pack-home-'));
      context.after(() => rmSync(home, { recursive: true, force: true }));
      const { STINT_STORE: _, ...env } = process.env;
      const { stdout, stderr } = spawnSync('python3', [join(shared, 'handoff-pack/run.py'), '--part', part], {
        cwd: repository,
        env: { ...env, HOME: home },
        encoding: 'utf8',
        maxBuffer: 64 * 1024 * 1024,
      });
      const verdicts = new Map(
        [...stdout.matchAll(/^(ok|FAIL) +(\w+) - /gm)].map(([, verdict = '', id = '']) => [id, verdict]),
      );
      assert.ok(verdicts.size > 15, `${stdout}${stderr}`);
      const failed = [...verdicts].filter(([, verdict]) => verdict === 'FAIL').map(([id]) => id);
      assert.deepEqual(failed, expected, stdout);
    },
  );
