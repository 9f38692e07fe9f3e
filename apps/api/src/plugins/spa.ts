import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { extname, join, relative, sep } from 'node:path';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { errorBody } from '../errors.js';

/** Files whose names change with their content. */
const immutable = /^\/assets\//;
const TYPES: ReadonlyMap<string, string> = new Map([
  ['.html', 'text/html; charset=utf-8'],
  ['.js', 'text/javascript; charset=utf-8'],
  ['.css', 'text/css; charset=utf-8'],
  ['.json', 'application/json; charset=utf-8'],
  ['.map', 'application/json; charset=utf-8'],
  ['.webmanifest', 'application/manifest+json'],
  ['.svg', 'image/svg+xml'],
  ['.txt', 'text/plain; charset=utf-8'],
  ['.png', 'image/png'],
  ['.ico', 'image/x-icon'],
  ['.woff2', 'font/woff2'],
]);
type Coding = 'br' | 'gzip' | 'identity';

/** Suffixes of the compressed files that the build makes, smallest first. */
const CODINGS = [
  { coding: 'br', suffix: '.br' },
  { coding: 'gzip', suffix: '.gz' },
] as const;
const SUFFIX = /\.(br|gz)$/;

interface File {
  readonly type: string;
  readonly etag: string;
  readonly bodies: ReadonlyMap<Coding, Buffer>;
}

/**
 * Serves the application for browsers. For paths without a file, browsers get its index page. All files and their
 * compressed variants are kept in memory: no request opens a file.
 */
export async function singlePageApp(app: FastifyInstance, root: string | undefined): Promise<void> {
  const files = root === undefined ? undefined : await readFiles(root);
  const index = files?.get('/index.html');
  app.setNotFoundHandler(async (request, reply) => {
    const path = request.url.split('?', 1)[0] ?? '/';
    if (/^\/rest\/./.test(path)) {
      // The route matches every path, so that only the method can be wrong.
      return reply.code(405).header('allow', 'GET, HEAD, PUT, PATCH, DELETE, POST').send(errorBody(405));
    }
    const page = request.method === 'GET' || request.method === 'HEAD';
    if (files === undefined || index === undefined || !page || /^\/(rest|api|docs|live|healthz)(\/|$)/.test(path)) {
      return reply.code(404).send(errorBody(404));
    }
    const file = files.get(path) ?? (path === '/' ? index : undefined);
    // Browsers accept text/html. A program that requests a mistyped path gets an error instead of the page.
    const opensMenu = !/\.[a-z0-9]+$/i.test(path) && takesPages(request.headers.accept);
    if (file === undefined && !opensMenu) return reply.code(404).send(errorBody(404));
    const lasting = file !== undefined && immutable.test(path);
    reply.header('cache-control', lasting ? 'public, max-age=31536000, immutable' : 'no-cache');
    return sendFile(request, reply, file ?? index);
  });
}

const takesPages = (accept: string | undefined): boolean => /\btext\/html\b/i.test(accept ?? '');

function sendFile(request: FastifyRequest, reply: FastifyReply, { type, etag, bodies }: File): FastifyReply {
  const coding = codingFor(request.headers['accept-encoding'], bodies);
  const tag = `"${etag}-${coding}"`;
  reply.headers({ etag: tag, vary: 'accept-encoding' });
  if (request.headers['if-none-match']?.split(',').some((known) => known.trim().replace(/^W\//, '') === tag)) {
    return reply.code(304).send();
  }
  if (coding !== 'identity') reply.header('content-encoding', coding);
  return reply.type(type).send(bodies.get(coding));
}

/** The smallest encoding that the client accepts (RFC 9110 §12.5.3; quality values are not compared). */
function codingFor(accepted: string | undefined, bodies: File['bodies']): Coding {
  const taken = new Set(
    (accepted ?? '').split(',').flatMap((part) => {
      const [name = '', ...parameters] = part.split(';').map((text) => text.trim().toLowerCase());
      return parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter)) ? [] : [name];
    }),
  );
  return CODINGS.find(({ coding }) => taken.has(coding) && bodies.has(coding))?.coding ?? 'identity';
}

/** The files below a folder, by the path of their URL, without compressed variants of other files. */
async function readFiles(root: string): Promise<ReadonlyMap<string, File>> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const paths = new Set(entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name)));
  const files = [...paths]
    .filter((path) => !(SUFFIX.test(path) && paths.has(path.replace(SUFFIX, ''))))
    .map(async (path): Promise<[string, File]> => {
      const encoded = CODINGS.filter(({ suffix }) => paths.has(path + suffix));
      return [`/${relative(root, path).split(sep).join('/')}`, await fileOf(path, encoded)];
    });
  return new Map(await Promise.all(files));
}

async function fileOf(path: string, encoded: readonly (typeof CODINGS)[number][]): Promise<File> {
  const body = await readFile(path);
  const bodies = new Map<Coding, Buffer>([['identity', body]]);
  for (const { coding, suffix } of encoded) bodies.set(coding, await readFile(path + suffix));
  const etag = createHash('sha256').update(body).digest('base64url').slice(0, 22);
  return { type: TYPES.get(extname(path).toLowerCase()) ?? 'application/octet-stream', etag, bodies };
}
