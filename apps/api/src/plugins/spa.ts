import { stat } from 'node:fs/promises';
import { join, normalize } from 'node:path';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance } from 'fastify';
import { errorBody } from '../errors.js';

/** Files whose names change with their content. */
const immutable = /^\/assets\//;

/** Serves the browser's application; paths that are no file get its index page. */
export async function singlePageApp(app: FastifyInstance, root: string | undefined): Promise<void> {
  if (root !== undefined) await app.register(fastifyStatic, { root, serve: false, index: false, cacheControl: false });
  app.setNotFoundHandler(async (request, reply) => {
    const path = request.url.split('?', 1)[0] ?? '/';
    if (/^\/rest\/./.test(path)) {
      // Its route takes every path: what is missing is the method.
      return reply.code(405).header('allow', 'GET, HEAD, PUT, PATCH, DELETE, POST').send(errorBody(405));
    }
    const page = request.method === 'GET' || request.method === 'HEAD';
    if (root === undefined || !page || /^\/(rest|api|docs|live|healthz)(\/|$)/.test(path)) {
      return reply.code(404).send(errorBody(404));
    }
    const file = await fileOf(root, path);
    if (file === undefined && /\.[a-z0-9]+$/i.test(path)) return reply.code(404).send(errorBody(404));
    reply.header(
      'cache-control',
      file !== undefined && immutable.test(path) ? 'public, max-age=31536000, immutable' : 'no-cache',
    );
    return reply.sendFile(file ?? 'index.html');
  });
}

/** Path of an existing file below `root`, relative to it. */
async function fileOf(root: string, path: string): Promise<string | undefined> {
  let relative: string;
  try {
    relative = normalize(decodeURIComponent(path)).replace(/^\/+/, '');
  } catch {
    return undefined;
  }
  if (relative === '' || relative.startsWith('..') || relative.includes('\0')) return undefined;
  const found = await stat(join(root, relative)).catch(() => undefined);
  return found?.isFile() ? relative : undefined;
}
