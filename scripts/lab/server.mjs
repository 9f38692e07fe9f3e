// @ts-check
/** Services on the lab's `server`: HTTP, DNS-like answers and the sink of the UDP stream. */
import { createSocket } from 'node:dgram';
import { createServer } from 'node:http';
import { reply } from './reply.mjs';
import { STREAM_PORT } from './topology.mjs';

const LARGEST_PAGE_BYTES = 4 << 20;
/** Number of received datagrams of the stream for each report. */
const REPORT_EVERY = 50;

const page = Buffer.alloc(LARGEST_PAGE_BYTES, 'Tollway lab. ');

createServer((request, response) => {
  request.on('error', () => {});
  // Uploaded bytes are discarded.
  request.resume();
  const wanted = Number(new URL(request.url ?? '/', 'http://server').searchParams.get('bytes') ?? 1024);
  const bytes = Number.isFinite(wanted) ? Math.min(Math.max(Math.trunc(wanted), 0), LARGEST_PAGE_BYTES) : 1024;
  response.writeHead(200, { 'content-type': 'text/plain', 'content-length': bytes });
  response.end(page.subarray(0, bytes));
}).listen(80);

const dns = createSocket('udp4');
dns.on('message', (query, peer) => {
  if (query.length < 12) return;
  // RFC 1035 §4: the query with QR and RA set, one answer A 198.51.100.10 that points back at the question's name.
  const answer = Buffer.concat([query, Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 198, 51, 100, 10])]);
  answer.writeUInt16BE(0x8180, 2);
  answer.writeUInt16BE(1, 6);
  reply(dns, answer, peer);
});
dns.bind(53);

const sink = createSocket('udp4');
let received = 0;
sink.on('message', (_, peer) => {
  // The receiver of a stream sends reports, as in RTCP (RFC 3550), so that the flow has packets in both directions.
  if (++received % REPORT_EVERY === 0) reply(sink, `received ${received}`, peer);
});
sink.bind(STREAM_PORT);
