import assert from 'node:assert/strict';
import { hostname } from 'node:os';
import { test } from 'node:test';
import { machineName } from './machine.ts';

test('the machine is called what the system calls it', () => {
  assert.equal(machineName(), hostname());
});
