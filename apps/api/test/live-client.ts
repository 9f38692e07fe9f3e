import { WebSocket } from 'ws';
import { PASSWORD } from './router.js';

export type Message = Record<string, unknown> & { op: string; id?: number };

/** A browser's live connection that keeps what it hears. */
export class Client {
  readonly messages: Message[] = [];
  readonly socket: WebSocket;
  closed: number | undefined;
  readonly #waiting: (() => void)[] = [];

  constructor(url: string, headers: Record<string, string> = {}) {
    this.socket = new WebSocket(`${url.replace('http', 'ws')}/live`, { headers });
    this.socket.on('message', (data) => {
      this.messages.push(JSON.parse(String(data)));
      for (const wake of this.#waiting.splice(0)) wake();
    });
    this.socket.on('close', (code) => {
      this.closed = code;
      for (const wake of this.#waiting.splice(0)) wake();
    });
  }

  static async open(url: string, headers?: Record<string, string>): Promise<Client> {
    const basic = `Basic ${Buffer.from(`admin:${PASSWORD}`).toString('base64')}`;
    const client = new Client(url, headers ?? { authorization: basic });
    await new Promise((resolve, reject) => {
      client.socket.once('open', resolve);
      client.socket.once('error', reject);
    });
    return client;
  }

  send(message: unknown): void {
    this.socket.send(typeof message === 'string' ? message : JSON.stringify(message));
  }

  async next(matches: (message: Message) => boolean, timeoutMs = 10_000): Promise<Message> {
    const end = Date.now() + timeoutMs;
    for (;;) {
      const index = this.messages.findIndex(matches);
      if (index >= 0) return this.messages.splice(0, index + 1)[index] as Message;
      if (Date.now() > end || this.closed !== undefined) throw new Error(`nothing came; closed ${this.closed}`);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, 50);
        this.#waiting.push(() => {
          clearTimeout(timer);
          resolve();
        });
      });
    }
  }
}
