import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { csvLines } from '../src/import/csv.js';
import { LONG_WRITES, Router } from './router.js';

const QUEUES = '/queue/simple';

let router: Router;
beforeAll(async () => {
  router = await Router.start(LONG_WRITES);
});
afterAll(() => router.close());

const admin = { authorization: `Basic ${Buffer.from('admin:correct horse').toString('base64')}` };

interface Line {
  readonly line: number;
  readonly action: string;
  readonly name: string;
  readonly text: string;
  readonly hint: string;
}

interface Answer {
  readonly status: number;
  readonly lines: Line[];
  readonly revision?: number;
  readonly digest?: string;
  readonly detail?: string;
}

async function post(path: string, body: unknown): Promise<Answer> {
  const { status, body: answer } = await router.request('POST', path, body, admin);
  return { status, lines: [], ...(answer as object) };
}

const send = (body: unknown) => post('/api/v1/queues/import', body);
const undo = (revision: number | undefined) => post('/api/v1/queues/import/undo', { revision });

const list = async () => (await router.rest('GET', QUEUES)).rows;
const shown = async () => (await list()).map((row) => `${row.name} ${row.target} ${row['max-limit']}`);

afterEach(async () => {
  const ids = (await list()).map((row) => row['.id']);
  if (ids.length > 0) await router.rest('POST', `${QUEUES}/remove`, { '.id': ids });
});

describe('cells of a list', () => {
  it.each([
    [
      'plain',
      'a,b\nc,d',
      [
        ['a', 'b'],
        ['c', 'd'],
      ],
    ],
    [
      'Windows line ends, blanks, empty lines and remarks',
      'a , b\r\n\r\n# "no\r\nc,d\r\n',
      [
        ['a', 'b'],
        ['c', 'd'],
      ],
    ],
    [
      'quotes',
      '"a,1","say ""hi"""\n"two\nlines",x',
      [
        ['a,1', 'say "hi"'],
        ['two\nlines', 'x'],
      ],
    ],
    [
      'semicolons',
      'a;b,c\nd;e',
      [
        ['a', 'b,c'],
        ['d', 'e'],
      ],
    ],
    ['tabs, and a byte order mark', '\uFEFFa\tb', [['a', 'b']]],
    ['line ends of old', '#"\ra\r"x\r\ny"\r', [['a'], ['x\ny']]],
    ['nothing', '', []],
  ])('%s', async (_what, text, cells) => {
    expect((await csvLines(text)).map((line) => line.cells)).toEqual(cells);
  });

  it('are numbered as an editor numbers lines', async () => {
    expect((await csvLines('#x\na,b\n\n"two\nlines",x\nlast,y')).map(({ number }) => number)).toEqual([2, 4, 6]);
  });
});

describe('a list that is too much', () => {
  it('says so in the line from which on it is', async () => {
    const lines = await csvLines('a,b\n'.repeat(100_001));
    expect(lines).toHaveLength(100_001);
    expect(lines.at(-1)).toEqual({
      number: 100_001,
      cells: [],
      problem: 'there are more than 100000 lines, which are read at most',
    });
    expect(await csvLines('a,b\n'.repeat(100_000))).toHaveLength(100_000);
    const wide = { cells: [], problem: 'it has more than 256 cells' };
    expect(await csvLines(`${'a,'.repeat(255)}a\n${'a,'.repeat(256)}a\nb\n"x"${',y'.repeat(300)}\nc`)).toEqual([
      { number: 1, cells: Array(256).fill('a') },
      { number: 2, ...wide },
      { number: 3, cells: ['b'] },
      { number: 4, ...wide },
      { number: 5, cells: ['c'] },
    ]);
  });

  it('has its quotes read in time that grows as its length does', async () => {
    const [{ problem } = {}] = await csvLines(`name${'a"'.repeat(1_000_000)}`);
    expect(problem).toBe('column 1: it has 2000004 characters, and 8192 are accepted at most');
    expect((await csvLines(`"${'""'.repeat(1_000_000)}`))[0]?.problem).toMatch(/not closed/);
    expect((await csvLines('"a" b,"c"'))[0]?.problem).toMatch(/^column 1: text after the closing quote/);
    expect((await csvLines('"a" b,"c"'))[0]?.cells).toEqual(['a b', 'c']);
  });
});

describe('an import', () => {
  it('hints at a direction that a line leaves without a limit while it limits the other one', async () => {
    const csv =
      'name,target,upload,download\nup,10.0.0.1,20M,\ndown,10.0.0.2,,20M\nboth,10.0.0.3,20M,0\nnone,10.0.0.4,,\n';
    const hints = async (text: string) =>
      (await send({ csv: text, 'dry-run': true })).lines.map(
        ({ hint }) => /the line gives no (\w+) limit/.exec(hint)?.[1],
      );
    expect(await hints(csv)).toEqual(['download', 'upload', undefined, undefined]);
    expect(await hints('short,10.0.0.5,20M')).toEqual(['download']);
    await router.rest('PUT', QUEUES, { name: 'up', target: '10.0.0.1', 'max-limit': '1M/2M' });
    // What the queue has stays.
    expect(await hints(csv)).toEqual([undefined, 'upload', undefined, undefined]);
  });

  it('tells first, then does all of it in one revision', async () => {
    const csv = '# our customers\nname,target,upload,download\nalice,10.0.0.1,5M,20M\nbob,10.0.0.2,1M,2M\n';
    const reported = await send({ csv, 'dry-run': true });
    expect(reported).toEqual({
      status: 200,
      digest: expect.any(String),
      lines: [
        {
          line: 3,
          action: 'add',
          name: 'alice',
          text: 'target 10.0.0.1/32, max-limit 5M/20M',
          hint: expect.any(String),
        },
        { line: 4, action: 'add', name: 'bob', text: 'target 10.0.0.2/32, max-limit 1M/2M', hint: '' },
      ],
    });
    expect(await list()).toEqual([]);
    const before = (await router.request('GET', '/api/v1/revisions', undefined, admin)).rows.length;
    const done = await send({ csv });
    expect(done.lines.map(({ action }) => action)).toEqual(['add', 'add']);
    expect(await shown()).toEqual(['alice 10.0.0.1/32 5000000/20000000', 'bob 10.0.0.2/32 1000000/2000000']);
    const revisions = (await router.request('GET', '/api/v1/revisions', undefined, admin)).rows;
    expect(revisions).toHaveLength(before + 1);
    expect(revisions[0]).toMatchObject({
      revision: done.revision,
      summary: 'import /queue/simple: 2 added, 0 changed, 0 removed',
    });
    expect(router.peer?.active?.['simple-queues']).toHaveLength(2);
  });

  it('changes what differs, leaves the rest, and removes what is missing when that is asked for', async () => {
    await send({ csv: 'a,10.0.0.1,1M,1M\nb,10.0.0.2,1M,1M\nc,10.0.0.3,1M,1M' });
    const csv = 'name;Max Limit (kept);comment\n';
    expect((await send({ csv, 'dry-run': true })).lines[0]?.text).toMatch(/column 2: Max Limit \(kept\) is no setting/);
    const changes = 'Subscriber;IP Address;Download;note\na;10.0.0.1;3M;\nb;;;better\nd;10.0.0.4;9M;\n';
    const reported = await send({ csv: changes, 'dry-run': true, remove: true });
    expect(reported.lines.map(({ line, action, name, text }) => [line, action, name, text])).toEqual([
      [2, 'change', 'a', 'max-limit 1M/1M → 1M/3M'],
      [3, 'change', 'b', 'comment better'],
      [4, 'add', 'd', 'target 10.0.0.4/32, max-limit 0/9M'],
      [0, 'remove', 'c', 'target 10.0.0.3/32'],
    ]);
    await send({ csv: changes, remove: true });
    expect(await shown()).toEqual([
      'a 10.0.0.1/32 1000000/3000000',
      'b 10.0.0.2/32 1000000/1000000',
      'd 10.0.0.4/32 0/9000000',
    ]);
    const again = await send({ csv: changes, remove: true });
    expect(again.lines.map(({ action }) => action)).toEqual(['same', 'same', 'same']);
    expect(again.revision).toBeUndefined();
  });

  it('knows queues without a name by their targets, and bursts by their halves', async () => {
    await send({ csv: 'x,10.0.0.1 10.1.0.0/16,1M,1M' });
    const csv =
      'target,up,down,burst_up,Burst Download,burst-threshold,burst-time\n10.0.0.1|10.1.0.0/16,2M,2M,4M,8M,1M,16\n';
    expect((await send({ csv })).lines).toMatchObject([
      {
        action: 'change',
        name: 'x',
        text: 'max-limit 1M/1M → 2M/2M, burst-limit 4M/8M, burst-threshold 1M/1M, burst-time 16s/16s',
      },
    ]);
    expect((await list())[0]).toMatchObject({ 'burst-limit': '4000000/8000000', 'burst-time': '16s/16s' });
  });

  it('keeps queues above those that stay', async () => {
    await send({
      csv: 'name,target,parent\ntop,10.0.0.0/8,\nmiddle,10.0.0.0/16,top\nlow,10.0.0.1,middle\nother,10.9.0.1,',
    });
    const reported = await send({ csv: 'low,10.0.0.1', remove: true });
    expect(reported.lines.map(({ action, name }) => `${action} ${name}`)).toEqual(['same low', 'remove other']);
  });

  it('knows parents of later lines, and keeps the order of the list', async () => {
    const csv =
      'name,target,parent\nlow,10.0.0.1,middle\nbob,10.0.0.2,\nmiddle,10.0.0.0/16,top\ntop,10.0.0.0/8,\nlast,10.1.0.1,top';
    const reported = await send({ csv });
    expect(reported.lines.map(({ line, action, name }) => `${line} ${action} ${name}`)).toEqual([
      '2 add low',
      '3 add bob',
      '4 add middle',
      '5 add top',
      '6 add last',
    ]);
    expect((await list()).map(({ name, parent }) => `${name} below ${parent}`)).toEqual([
      'low below middle',
      'bob below none',
      'middle below top',
      'top below none',
      'last below top',
    ]);
    const circle = await send({ csv: 'name,target,parent\np,10.2.0.1,q\nq,10.2.0.2,p\ns,10.2.0.3,s', 'dry-run': true });
    expect(circle.lines.map(({ action }) => action)).toEqual(['error', 'error', 'error']);
    expect(circle.lines.map(({ text }) => text)).toEqual([
      'column 3: value of parent: q leads back to p; give a queue that is not below this one',
      'column 3: value of parent: p leads back to q; give a queue that is not below this one',
      'column 3: value of parent: s leads back to s; give a queue that is not below this one',
    ]);
  });

  it('blames the line whose parent is missing, not those below it', async () => {
    const csv = 'name,target,parent\nkid,10.1.0.3,mid\nmid,10.1.0.2/31,top\ntop,10.1.0.0/30,missing';
    expect((await send({ csv, 'dry-run': true })).lines.map(({ text }) => text)).toEqual([
      'column 3: value of parent: mid is in line 3, which is wrong itself',
      'column 3: value of parent: top is in line 4, which is wrong itself',
      expect.stringMatching(/^column 3: .*missing is none of /),
    ]);
  });

  it('reads targets however they are separated', async () => {
    await send({ csv: 'name,target\na,"10.0.0.1, 10.0.0.2"\nb,"10.0.0.3,10.0.0.4 | 10.0.0.5 ,"\n' });
    expect((await list()).map(({ target }) => target)).toEqual([
      '10.0.0.1/32,10.0.0.2/32',
      '10.0.0.3/32,10.0.0.4/32,10.0.0.5/32',
    ]);
  });

  it('adds nothing or changes nothing where that is not asked for', async () => {
    await send({ csv: 'a,10.0.0.1,1M,1M' });
    const csv = 'a,10.0.0.1,2M,2M\nb,10.0.0.2,2M,2M';
    expect((await send({ csv, add: false, update: false })).lines.map(({ action }) => action)).toEqual([
      'same',
      'same',
    ]);
    expect(await shown()).toEqual(['a 10.0.0.1/32 1000000/1000000']);
  });

  it('without titles takes lines with and without bursts in any order', async () => {
    const csv = 'a,10.0.0.1,1M,2M\nb,10.0.0.2,1M,2M,3M,4M,500k/500k,10s\nc,10.0.0.3,5M\n';
    const { lines } = await send({ csv });
    expect(lines.map(({ action, hint = '' }) => `${action} ${hint}`)).toEqual([
      'add ',
      'add ',
      'add the line gives no download limit, only one of upload: download is not limited',
    ]);
    expect(await shown()).toEqual([
      'a 10.0.0.1/32 1000000/2000000',
      'b 10.0.0.2/32 1000000/2000000',
      'c 10.0.0.3/32 5000000/0',
    ]);
  });

  it('tells every wrong line, and changes nothing then', async () => {
    const csv =
      'a,10.0.0.1,1M,1M\nb,10.0.0.300,1M,1M\na,10.0.0.9,1M,1M\nc,10.0.0.4,fast,1M\nd,10.0.0.5,1M,1M,1M,1M,1M,1s,more\n';
    const reported = await send({ csv, 'dry-run': true });
    expect(reported.lines.map(({ line, action }) => `${line} ${action}`)).toEqual([
      '1 add',
      '2 error',
      '3 error',
      '4 error',
      '5 error',
    ]);
    expect(reported.lines.map(({ text }) => text).slice(1)).toEqual([
      expect.stringMatching(/^column 2: value of target: 10.0.0.300 is not/),
      'line 1 names the same queue',
      expect.stringMatching(/^column 3: value of max-limit \(upload\): fast is not a rate in bits per second/),
      'it has 9 cells for 8 columns',
    ]);
    const refused = await send({ csv });
    expect(refused.status).toBe(400);
    expect(refused.detail).toMatch(/^line 2: column 2: value of target: .*; and 3 more lines are wrong$/);
    expect(await list()).toEqual([]);
  });

  it.each([
    [
      'an unknown title',
      'name,target,speed\na,10.0.0.1,5M',
      1,
      /^column 3: speed is no setting of a queue; there are name, target, dst, max-limit \(upload, download\), /,
    ],
    ['a title twice', 'name,target,upload,max-limit\na,10.0.0.1,5M,6M', 1, /^columns 3 and 4 both give max-limit$/],
    [
      'cells without a title',
      'name,target,,comment\na,10.0.0.1,7,x',
      2,
      /^column 3 has no title, and here it holds 7$/,
    ],
    [
      'too many columns without titles',
      'a,10.0.0.1,1M,1M,1M,1M,1M,1s,9',
      1,
      /^it has 9 cells, .* there are 8 columns: name, target, .*; a line of titles has/,
    ],
    [
      'an open quote',
      'name,target\na,10.0.0.1\nb,"10.0.0.2\nc,10.0.0.3',
      3,
      /^column 2: the quote that begins here is not closed$/,
    ],
    [
      'text behind a quote',
      'name,target\n"a" b,10.0.0.1',
      2,
      /^column 1: text after the closing quote; write a quote inside quotes twice$/,
    ],
    [
      'a name that would be an id',
      'name,target\n*a,10.0.0.1',
      2,
      /^column 1: value of name: \*a is not a name .* starts with neither ! nor \*/,
    ],
    [
      'half a pair',
      'name,target,up,down\na,10.0.0.1,1M,"1,5M"',
      2,
      /^column 4: value of max-limit \(download\): 1,5M is not a rate in bits per second, optionally with k, M or G/,
    ],
    [
      'a unit',
      'name,target,max-limit\na,10.0.0.1,5Mbit/1M',
      2,
      /^column 3: value of max-limit: upload: 5Mbit is not a rate in bits per second, optionally with k, M or G/,
    ],
    ['no target', 'name,comment\na,x', 2, /^target is required: a comma list of IPv4 and IPv6 prefixes/],
    ['a parent', 'name,target,parent\na,10.0.0.1,b', 2, /^column 3: .* parent: b is none of none/],
    ['a name twice', 'name,target\na,10.0.0.1\nb,10.0.0.2\na,10.0.0.3', 4, /^line 2 names the same queue$/],
  ])('says where the mistake is, and what would be right: %s', async (_what, csv, line, text) => {
    const reported = await send({ csv, 'dry-run': true });
    const wrong = reported.lines.filter(({ action }) => action === 'error');
    expect(wrong).toEqual([expect.objectContaining({ line, text: expect.stringMatching(text) })]);
    const refused = await send({ csv });
    expect([refused.status, refused.detail]).toEqual([400, `line ${line}: ${wrong[0]?.text}`]);
    expect(await list()).toEqual([]);
  });

  it('leaves out empty columns and cells at the end, as spreadsheets write them', async () => {
    const reported = await send({ csv: 'Name;IP;;;\r\na;10.0.0.1;;;\r\nb;10.0.0.2;;;;;\r\n', 'dry-run': true });
    expect(reported.lines.map(({ action, name, text }) => `${action} ${name} ${text}`)).toEqual([
      'add a target 10.0.0.1/32',
      'add b target 10.0.0.2/32',
    ]);
  });

  it('tells thousands of mistakes in time that grows with their number', async () => {
    const some = (count: number, parent: string, from: number) =>
      Array.from({ length: count }, (_, at) => `s${from + at},10.${at >> 8}.${at & 255}.1,${parent}`);
    const csv = ['name,target,parent', ...some(12_000, '', 0), ...some(12_000, 'nobody', 12_000)].join('\n');
    const reported = await send({ csv, 'dry-run': true });
    expect(reported.lines.filter(({ action }) => action === 'error')).toHaveLength(12_000);
  });

  it('names the line that the data plane refuses', async () => {
    const { peer } = router;
    if (peer === undefined) throw new Error('no peer');
    peer.refuse = (config) => {
      const row = config['simple-queues']?.[1]?.row;
      return row === undefined ? undefined : { row, message: 'too much' };
    };
    const answer = await send({ csv: '#\na,10.0.0.1\nb,10.0.0.2' });
    peer.refuse = undefined;
    expect(answer.status).toBe(400);
    expect(answer.detail).toMatch(/^line 3: .*too much/);
    expect(await list()).toEqual([]);
  });

  it('that was reported by a dry run does nothing else than that', async () => {
    await router.rest('PUT', QUEUES, { name: 'old', target: '10.0.0.9' });
    const body = { csv: 'name,target\nalice,10.0.0.1', remove: true };
    const { digest } = await send({ ...body, 'dry-run': true });
    await router.rest('PUT', QUEUES, { name: 'late', target: '10.0.0.8' });
    expect(await send({ ...body, digest })).toMatchObject({ status: 400, property: 'digest' });
    expect(await shown()).toHaveLength(2);
    const again = await send({ ...body, 'dry-run': true });
    expect(again.lines.map(({ action, name }) => `${action} ${name}`)).toEqual([
      'add alice',
      'remove old',
      'remove late',
    ]);
    expect(await send({ ...body, digest: again.digest })).toMatchObject({ status: 200 });
    expect(await shown()).toHaveLength(1);
    expect(await send({ ...body, digest: 7 })).toMatchObject({ status: 400, property: 'digest' });
  });

  it('is refused to those who may only look, and with arguments that nobody knows', async () => {
    await router.rest('PUT', '/user', { name: 'eve', group: 'read', password: 'only looking' });
    const eve = { authorization: `Basic ${Buffer.from('eve:only looking').toString('base64')}` };
    expect((await router.request('POST', '/api/v1/queues/import', { csv: 'a,10.0.0.1' }, eve)).status).toBe(403);
    expect((await router.request('POST', '/api/v1/queues/import', { csv: 'a,10.0.0.1' })).status).toBe(401);
    expect(await send({ csv: '', force: true })).toMatchObject({ status: 400, property: 'force' });
    expect(await send({})).toMatchObject({ status: 400, property: 'csv' });
  });

  it('takes 25,000 lines', async () => {
    const lines = Array.from({ length: 25_000 }, (_, index) => {
      const [a, b] = [index >> 8, index & 255];
      return `subscriber-${index},10.${a >> 8}.${a & 255}.${b},10M,50M,20M,100M,8M,16s`;
    });
    const csv = lines.join('\n');
    const reported = await send({ csv, 'dry-run': true });
    expect(reported.lines.filter(({ action }) => action === 'add')).toHaveLength(25_000);
    const done = await send({ csv });
    expect(done.revision).toBeGreaterThan(0);
    expect(router.peer?.active?.['simple-queues']).toHaveLength(25_000);
    const again = await send({ csv: csv.replaceAll('50M', '60M'), remove: true });
    expect(again.lines.filter(({ action }) => action === 'change')).toHaveLength(25_000);
    const one = await send({ csv: 'name,target\nlast,10.99.0.1\n', remove: true });
    expect(one.lines.filter(({ action }) => action === 'remove')).toHaveLength(25_000);
    expect(await list()).toHaveLength(1);
  });

  it('takes no list without a line for the wish to have no queues', async () => {
    await send({ csv: 'name,target\nalone,10.77.0.1\n' });
    for (const csv of ['name,target\n', '', '\n\n']) {
      const reported = await send({ csv, remove: true });
      expect(reported.status).toBe(400);
      expect(reported.detail).toMatch(/no queue is in the list|title/);
      expect(await list()).toHaveLength(1);
    }
  });
});

describe('an import that changes nothing', () => {
  it('tells no revision, not even the one that another change has just made', async () => {
    const csv = 'name,target\nalone,10.77.0.1\n';
    await send({ csv });
    const [other, same] = await Promise.all([
      router.rest('PUT', '/ip/firewall/address-list', { list: 'x', address: '10.9.9.9' }),
      send({ csv }),
      router.rest('PUT', '/ip/firewall/address-list', { list: 'x', address: '10.9.9.8' }),
    ]);
    expect(other.status).toBe(201);
    expect(same.lines.map(({ action }) => action)).toEqual(['same']);
    expect(same).not.toHaveProperty('revision');
  });
});

describe('an undo of an import', () => {
  /** All of every queue but what the data plane counts, in list order. */
  const everything = async () =>
    (await list()).map((row) =>
      Object.entries(row).filter(([name]) => name !== 'hint' && !/^(rate|bytes)$/.test(name)),
    );

  it('brings back what there was: values that were unset, queues that are gone, their order and their ids', async () => {
    await send({ csv: 'name,target,parent\ntop,10.0.0.0/8,\na,10.0.0.1,top\nb,10.0.0.2,top\nc,10.0.0.3,' });
    await router.rest('POST', `${QUEUES}/move`, { numbers: 'c', destination: 'a' });
    const before = await everything();
    const csv =
      'name,target,max-limit,dst,comment,time,packet-marks,total-max-limit,disabled\n' +
      'c,10.0.0.3,9M/9M,1.1.1.1,new here,8h-9h,voice,9M,yes\nnew,10.0.0.9,1M/1M,,,,,,\ntop,10.0.0.0/8,5M/5M,,,,,,';
    const done = await send({ csv, remove: true });
    expect(done.lines.map(({ action }) => action)).toEqual(['change', 'add', 'change', 'remove', 'remove']);
    expect(await everything()).not.toEqual(before);
    const undone = await undo(done.revision);
    expect(undone).toMatchObject({ status: 200, revision: (done.revision ?? 0) + 1 });
    expect(undone.lines.map(({ action, name }) => `${action} ${name}`).sort()).toEqual([
      'add a',
      'add b',
      'change c',
      'change top',
      'remove new',
    ]);
    expect(undone.lines.find(({ name }) => name === 'c')?.text).toBe(
      'dst 1.1.1.1/32 → none, max-limit 9M/9M → 0/0, time 8h-9h,sun,mon,tue,wed,thu,fri,sat → none, ' +
        'packet-marks voice → none, total-max-limit 9M → none, disabled true → false, comment new here → none',
    );
    expect(await everything()).toEqual(before);
    expect(router.peer?.active?.['simple-queues']).toHaveLength(4);
    const [revision] = (await router.request('GET', '/api/v1/revisions', undefined, admin)).rows;
    expect(revision?.summary).toBe(`undo revision ${done.revision}`);
    // An undo is a revision like others.
    await undo(undone.revision);
    expect((await list()).map(({ name }) => name).sort()).toEqual(['c', 'new', 'top']);
  });

  it('undoes nothing when a queue is another one since, or what it needs is gone, and names it', async () => {
    await send({ csv: 'a,10.0.0.1,1M,1M\nb,10.0.0.2,1M,1M' });
    const changed = await send({ csv: 'a,10.0.0.1,2M,2M\nb,10.0.0.2,2M,2M' });
    await router.rest('POST', `${QUEUES}/set`, { numbers: 'b', comment: 'mine' });
    const { status, detail } = await undo(changed.revision);
    expect([status, detail]).toEqual([
      400,
      `failure: revision ${changed.revision} cannot be undone, nothing was changed: ` +
        `/queue/simple b was changed after revision ${changed.revision}`,
    ]);
    expect(await shown()).toEqual(['a 10.0.0.1/32 2000000/2000000', 'b 10.0.0.2/32 2000000/2000000']);

    const removed = await send({ csv: 'a,10.0.0.1', remove: true });
    await router.rest('PUT', QUEUES, { name: 'b', target: '10.0.0.7' });
    expect((await undo(removed.revision)).detail).toMatch(/: \/queue\/simple b cannot come back: .*name/);

    const added = await send({ csv: 'top,10.0.0.0/8' });
    await router.rest('PUT', QUEUES, { name: 'below', target: '10.0.0.8', parent: 'top' });
    expect((await undo(added.revision)).detail).toMatch(/: \/queue\/simple top is in use by \/queue\/simple below/);
    expect((await list()).map(({ name }) => name)).toEqual(['a', 'b', 'top', 'below']);
  });

  it('is of simple queues alone', async () => {
    await router.rest('PUT', '/ip/firewall/address-list', { list: 'x', address: '10.0.0.1' });
    const [latest] = (await router.request('GET', '/api/v1/revisions', undefined, admin)).rows;
    expect((await undo(Number(latest?.revision))).detail).toMatch(/changed \/ip\/firewall\/address-list/);
    expect(await undo(99_999)).toMatchObject({ status: 400, property: 'revision' });
    expect(await post('/api/v1/queues/import/undo', { revision: '1' })).toMatchObject({ property: 'revision' });
    expect(await post('/api/v1/queues/import/undo', { revision: 1, all: true })).toMatchObject({ property: 'all' });
    await router.rest('PUT', '/user', { name: 'ann', group: 'read', password: 'only looking' });
    const ann = { authorization: `Basic ${Buffer.from('ann:only looking').toString('base64')}` };
    expect((await router.request('POST', '/api/v1/queues/import/undo', { revision: 1 }, ann)).status).toBe(403);
  });
});
