import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { requestUser } from './rest.ts';
import { login, refreshSession, updateUser, useSession } from './session.ts';

const answer = vi.fn<() => Promise<Response>>();
const answers = (status: number, body: object) => answer.mockResolvedValue(Response.json(body, { status }));
beforeEach(() => {
  vi.stubGlobal('fetch', answer);
  useSession.setState({ phase: 'unknown' }, true);
});
afterEach(() => vi.unstubAllGlobals());

const who = { id: '*1', name: 'admin', group: 'full', version: '1', 'time-zone': 'Asia/Kolkata' };
const { 'time-zone': timeZone, ...rest } = who;
const inside = { phase: 'in', ...rest, timeZone };
const detail = 'The database is damaged. Stop the router and start it with --restore.';

test('an open page stays open while management cannot work, says why, and forgets it when it is over', async () => {
  answers(200, who);
  await refreshSession();
  answers(503, { detail });
  await refreshSession();
  expect(useSession.getState()).toEqual({ ...inside, problem: detail });
  answer.mockRejectedValue(new TypeError('no answer'));
  await refreshSession();
  expect(useSession.getState()).toEqual(inside);
  answers(503, { detail });
  await refreshSession();
  answers(200, who);
  await refreshSession();
  expect(useSession.getState()).toEqual(inside);
});

test('a page that nobody has logged in to says the same instead of its login', async () => {
  answers(503, { detail });
  await refreshSession();
  expect(useSession.getState()).toEqual({ phase: 'unavailable', problem: detail });
  answers(401, { setup: false });
  await refreshSession();
  expect(useSession.getState()).toEqual({ phase: 'out', setup: false });
});

test('what is open under the question for the password stays, too', async () => {
  answers(200, who);
  await refreshSession();
  answers(401, { setup: false });
  await refreshSession();
  const asked = useSession.getState();
  expect(asked).toMatchObject({ phase: 'out', expired: { name: 'admin' } });
  answers(503, { detail });
  await refreshSession();
  expect(useSession.getState()).toEqual(asked);
});

test('whom another tab has logged in does not take over a page, unless they log in there', async () => {
  answers(200, { ...who, id: '*2', name: 'bob' });
  await refreshSession();
  expect(requestUser()).toBe('*2');
  answers(200, who);
  await refreshSession();
  expect(useSession.getState()).toMatchObject({ phase: 'out', expired: { name: 'bob' } });
  await refreshSession();
  expect(useSession.getState()).toMatchObject({ phase: 'out', expired: { name: 'bob' } });
  expect(requestUser()).toBe('*2');
  answers(200, { ...who, id: '*2', name: 'bob' });
  await refreshSession();
  expect(useSession.getState()).toMatchObject({ phase: 'in', name: 'bob' });
  answer.mockImplementation(() => Promise.resolve(Response.json(who)));
  await login('admin', 'long enough');
  expect(useSession.getState()).toMatchObject({ phase: 'in', name: 'admin' });
  expect(requestUser()).toBe('*1');
});

test('a login after which the router does not answer says so, and can be tried again', async () => {
  answers(401, { setup: false });
  await refreshSession();
  answer.mockResolvedValueOnce(Response.json({})).mockRejectedValueOnce(new TypeError('no answer'));
  await expect(login('admin', 'long enough')).rejects.toThrow('did not answer after the login');
  answer.mockImplementation(() => Promise.resolve(Response.json(who)));
  await login('admin', 'long enough');
  expect(useSession.getState()).toEqual(inside);
});

test('who is renamed stays logged in', async () => {
  answers(200, who);
  await refreshSession();
  updateUser({ name: 'root', group: 'full' });
  expect(useSession.getState()).toMatchObject({ phase: 'in', id: '*1', name: 'root' });
  answers(200, { ...who, name: 'root' });
  await refreshSession();
  expect(useSession.getState()).toMatchObject({ phase: 'in', id: '*1', name: 'root' });
  expect(requestUser()).toBe('*1');
});
