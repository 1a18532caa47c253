/** A run that really builds, tests and packs a small project, with drivers and programs that are killed (kill -9). */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { driveThroughKills, driveThroughMoments } from './support/run-campaigns.ts';

suite('drivers and programs that are killed', { concurrency: true }, () => {
  test('a driver that is killed before it has told a program to begin has had no effect, and one after the other goes on', async (context) => {
    const { doubts, done } = await driveThroughMoments(context, [
      ['driver claimed build'],
      ['driver spawned build'],
      ['driver started build'],
      ['driver claimed lint'],
    ]);
    // Three attempts of build, and the three of the batch, of which one may have begun before the driver was gone.
    assert.ok(doubts >= 6 && done <= doubts - 6, `${doubts} in doubt, ${done} done`);
  });

  test('what a program does whose driver is gone counts: a result that it has left is taken, an effect that it has had is not had again', async (context) => {
    const { adopted, done } = await driveThroughMoments(context, [
      ['driver told build'],
      ['node begun lint', 'driver ended sums'],
      ['driver told pack'],
      ['driver reported verify'],
    ]);
    assert.ok(adopted >= 2, 'build and pack');
    assert.ok(done >= 1, 'sums');
  });

  test('a program that is killed is in doubt, and done again only where it had no effect', async (context) => {
    const { doubts, done } = await driveThroughMoments(context, [
      ['node begun build', 'node left test', 'node done sums', 'driver claimed pack'],
      ['node begun pack', 'node done verify'],
    ]);
    assert.ok(doubts >= 5 && done >= 2, `${doubts} in doubt, ${done} done`);
  });

  test('15 more kills at random moments, of drivers, programs or both: every effect once, nothing silently twice, nothing lost', async (context) => {
    const seed = Date.now() % 1_000_000;
    context.diagnostic(`seed ${seed}`);
    const { kills } = await driveThroughKills(context, seed, 15);
    assert.ok(kills >= 15);
  });
});
