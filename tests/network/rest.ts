import { runCommand } from './netns.ts';

/** A row as REST gives it: every value a string. */
export type Row = Readonly<Record<string, string>>;

export interface Answer {
  readonly status: number;
  readonly body: unknown;
}

/** Sends a request from somewhere. */
type Send = (method: string, url: string, headers: Readonly<Record<string, string>>, body?: string) => Promise<Answer>;

const parse = (text: string): unknown => {
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};

/** Sends a request from the test's own namespace. */
const sendHere: Send = async (method, url, headers, body) => {
  const response = await fetch(url, { method, headers, body: body ?? null });
  return { status: response.status, body: parse(await response.text()) };
};

/** Sends a request from another namespace, where the API listens. */
export const sendFrom =
  (enter: readonly string[]): Send =>
  async (method, url, headers, body) => {
    const argv = [...enter, 'curl', '-s', '-w', '\n%{http_code}', '-X', method, url];
    for (const [name, value] of Object.entries(headers)) argv.push('-H', `${name}: ${value}`);
    if (body !== undefined) argv.push('--data-binary', body);
    const { stdout } = runCommand(argv);
    const end = stdout.lastIndexOf('\n');
    return { status: Number(stdout.slice(end + 1)), body: parse(stdout.slice(0, end)) };
  };

/** The REST interface of a router, as a script uses it. */
export class Rest {
  constructor(
    readonly url: string,
    readonly password: string,
    readonly send: Send = sendHere,
  ) {}

  request(method: string, path: string, body?: unknown): Promise<Answer> {
    const headers: Record<string, string> = {
      authorization: `Basic ${Buffer.from(`admin:${this.password}`).toString('base64')}`,
    };
    if (body !== undefined) headers['content-type'] = 'application/json';
    return this.send(method, `${this.url}${path}`, headers, body === undefined ? undefined : JSON.stringify(body));
  }

  async #ok(method: string, path: string, body?: unknown): Promise<unknown> {
    const answer = await this.request(method, path, body);
    if (answer.status < 200 || answer.status > 299) {
      throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    }
    return answer.body;
  }

  async list(menu: string): Promise<Row[]> {
    const body = await this.#ok('GET', `/rest${menu}`);
    if (!Array.isArray(body)) throw new Error(`GET ${menu} did not bring a list: ${JSON.stringify(body)}`);
    return body.map(asRow);
  }

  async get(menu: string, id?: string): Promise<Row> {
    return asRow(await this.#ok('GET', `/rest${menu}${id === undefined ? '' : `/${id}`}`));
  }

  /** Adds a row and gives its id. */
  async add(menu: string, row: Readonly<Record<string, string>>): Promise<string> {
    const id = asRow(await this.#ok('PUT', `/rest${menu}`, row))['.id'];
    if (id === undefined) throw new Error(`PUT ${menu} brought no id`);
    return id;
  }

  async set(menu: string, id: string, values: Readonly<Record<string, string>>): Promise<void> {
    await this.#ok('PATCH', `/rest${menu}/${id}`, values);
  }

  async remove(menu: string, id: string): Promise<void> {
    await this.#ok('DELETE', `/rest${menu}/${id}`);
  }

  command(path: string, body: Readonly<Record<string, string>> = {}): Promise<unknown> {
    return this.#ok('POST', `/rest${path}`, body);
  }
}

/** Checks that a value is a row: an object whose values are all strings. */
function asRow(value: unknown): Row {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Error(`not a row: ${JSON.stringify(value)}`);
  }
  return Object.fromEntries(
    Object.entries(value).map(([key, text]) => {
      if (typeof text !== 'string') throw new Error(`${key} is not a string: ${JSON.stringify(text)}`);
      return [key, text];
    }),
  );
}
