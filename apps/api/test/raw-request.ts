import { request } from 'node:http';
import { connect } from 'node:net';

interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: string;
  readonly bytes: Buffer;
}

/** A request whose headers are those given and no others but `host`: fetch sets some of its own. */
export function rawRequest(
  url: string,
  method: string,
  headers: Record<string, string>,
  body?: string | Buffer,
): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: Buffer.concat(chunks).toString(),
          bytes: Buffer.concat(chunks),
        }),
      );
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

/** Sends bytes, and gives what came until the other side closed or `ms` were over. */
export function rawExchange(url: string, text: string, ms = 20_000): Promise<{ text: string; closed: boolean }> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.write(text));
    let received = '';
    const end = (closed: boolean) => {
      clearTimeout(timer);
      socket.destroy();
      resolve({ text: received, closed });
    };
    const timer = setTimeout(() => end(false), ms);
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1');
    });
    socket.on('close', () => end(true));
    socket.on('error', (error: NodeJS.ErrnoException) => (error.code === 'ECONNRESET' ? end(true) : reject(error)));
  });
}

/** The request that makes a connection a WebSocket of `/live`; `login` is the value of `Authorization`, if there is one. */
export function upgradeRequest(login?: string): string {
  const authorization = login === undefined ? '' : `authorization: ${login}\r\n`;
  return (
    `GET /live HTTP/1.1\r\nhost: 127.0.0.1\r\n${authorization}connection: Upgrade\r\nupgrade: websocket\r\n` +
    'sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n'
  );
}
