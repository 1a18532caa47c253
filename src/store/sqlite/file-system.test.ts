import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refuseFileSystem, systemMounts, type MountTable } from './file-system.ts';

/** The numbers of statfs(2). */
const types = { nfs: 0x69_69, smb2: 0xfe_53_4d_42, v9fs: 0x01_02_19_97, fuse: 0x65_73_55_46, ext4: 0xef_53 };

const root = '25 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw';

/** A machine with these mounts, where every path lies on a file system of that number. */
const machine = (type: number | undefined, ...lines: readonly string[]): MountTable => ({
  typeOf: () => type,
  read: () => [root, ...lines, ''].join('\n'),
});

const problemOf = (folder: string, mounts: MountTable): string | undefined => refuseFileSystem(folder, mounts)?.message;

const nfs = '36 25 0:31 / /home/dev rw,relatime - nfs4 filer:/home rw,vers=4.2';

test('a folder on another machine is refused, and the refusal names the file system, where it comes from and the way out', () => {
  const refusal = refuseFileSystem('/home/dev/app/.stint', machine(types.nfs, nfs));
  assert.deepEqual(
    [refusal?.code, refusal?.message],
    [
      'invariant-unmet',
      'The folder /home/dev/app/.stint is on nfs4 (filer:/home): file locks and shared memory do not hold there, and two writers would damage the store.',
    ],
  );
  assert.match(String(refusal?.hint), /--store.*STINT_STORE.*STINT_UNSAFE_FILE_SYSTEM=allow/);
});

test('every file system that is shared between machines is known by its type', () => {
  const mount = (type: string, options = 'rw'): string => `40 25 0:40 / /mnt/x rw - ${type} source ${options}`;
  for (const type of ['nfs', 'nfs4', 'cifs', 'smb3', 'afs', 'ceph', 'drvfs', 'vboxsf', 'fuse.sshfs', 'fuse.rclone']) {
    assert.match(problemOf('/mnt/x/app', machine(types.fuse, mount(type))) ?? '', new RegExp(`is on ${type} `), type);
  }
  for (const type of ['ext4', 'xfs', 'btrfs', 'tmpfs', 'overlay', 'zfs', 'fuse.ntfs-3g', 'fuse', 'fuseblk']) {
    assert.equal(problemOf('/mnt/x/app', machine(types.fuse, mount(type))), undefined, type);
  }
});

test('9p is refused where it leads to Windows or to the host of a machine, and not where a sandbox serves its own root', () => {
  const mount = (options: string): string => `40 25 0:40 / /mnt/c rw - 9p C: ${options}`;
  const refused = [
    'rw,dirsync,aname=drvfs;path=C:\\;uid=1000,mmap,access=client,trans=fd,rfd=8,wfd=8',
    'rw,trans=virtio,version=9p2000.L',
    'rw,trans=tcp,port=564',
  ];
  for (const options of refused)
    assert.notEqual(problemOf('/mnt/c/app', machine(types.v9fs, mount(options))), undefined);
  assert.equal(problemOf('/mnt/c/app', machine(types.v9fs, mount('rw,trans=fd,rfd=4,wfd=4'))), undefined);
});

test('the mount that counts is the nearest one above the folder, and of two at one place the later one', () => {
  const local = '37 36 8:2 / /home/dev/local rw - ext4 /dev/sdb rw';
  const over = '38 25 8:3 / /home/dev rw - ext4 /dev/sdc rw';
  assert.notEqual(problemOf('/home/dev/app', machine(types.nfs, nfs, local)), undefined);
  assert.equal(problemOf('/home/dev/local/app', machine(types.nfs, nfs, local)), undefined);
  assert.equal(problemOf('/home/dev/app', machine(types.nfs, nfs, over)), undefined);
  assert.notEqual(problemOf('/home/dev/app', machine(types.nfs, over, nfs)), undefined);
  assert.equal(problemOf('/home/developer/app', machine(types.nfs, nfs)), undefined, 'a path is no prefix of a name');
  assert.notEqual(problemOf('/home/dev', machine(types.nfs, nfs)), undefined);
});

test('blanks and other characters in the path of a mount are read as the system writes them', () => {
  const line = String.raw`36 25 0:31 / /mnt/my\040disk\134x rw shared:7 master:1 - cifs //server/my\040share rw`;
  assert.match(
    problemOf(String.raw`/mnt/my disk\x/app`, machine(types.smb2, line)) ?? '',
    /is on cifs \(\/\/server\/my share\)/,
  );
});

test('where the system tells no types, or no mounts, or nonsense, nothing is refused', () => {
  assert.equal(problemOf('/home/dev', machine(undefined, nfs)), undefined);
  assert.equal(problemOf('/home/dev', machine(types.ext4, nfs)), undefined, 'the number of the type is asked first');
  assert.equal(problemOf('/home/dev', { typeOf: () => types.nfs, read: () => '' }), undefined);
  assert.equal(problemOf('/home/dev', { typeOf: () => types.nfs, read: () => 'a\n - \n- - -\n' }), undefined);
});

test('types that a system counts as negative numbers are the same types', () => {
  assert.notEqual(problemOf('/home/dev', machine(types.smb2 | 0, nfs)), undefined);
});

test(
  'the folder of this test is on a file system that this machine can tell',
  { skip: process.platform !== 'linux' },
  () => {
    assert.equal(typeof systemMounts.typeOf(import.meta.dirname), 'number');
    assert.equal(systemMounts.typeOf('/no/such/folder'), undefined);
    assert.match(systemMounts.read(), / - \w+/);
  },
);
