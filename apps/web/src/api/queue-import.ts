/** Subscribers as simple queues, from a comma separated list: what it would change, and the change. */
import { harmless, isObject, request } from './rest.ts';

export type ImportAction = 'add' | 'change' | 'remove' | 'same' | 'error';

/** What becomes of one line of the list, or of a queue that no line names. */
export interface ImportLine {
  /** From 1; 0 for a queue that is in no line. */
  readonly line: number;
  readonly action: ImportAction;
  readonly name: string;
  /** What changes, or what is wrong. */
  readonly text: string;
  /** What of its settings has no effect, or another one than it seems to have; empty without a hint. */
  readonly hint: string;
}

export interface ImportReport {
  readonly lines: readonly ImportLine[];
  /** The revision that it made; undefined for a dry run, or when there was nothing to do. */
  readonly revision: number | undefined;
  /** Of a dry run: stands for what it told. */
  readonly digest?: string | undefined;
}

export interface ImportOptions {
  /** Only tells what would change. */
  readonly dryRun: boolean;
  /** Also removes queues that the list does not name. */
  readonly remove: boolean;
  /** Of the dry run that told what it does: the router refuses when that is something else by now. */
  readonly digest?: string | undefined;
}

const ACTIONS: readonly ImportAction[] = ['add', 'change', 'remove', 'same', 'error'];
const text = (value: unknown): string => (typeof value === 'string' ? value : '');

function lineOf(raw: Readonly<Record<string, unknown>>): ImportLine {
  return {
    line: typeof raw.line === 'number' ? raw.line : 0,
    action: ACTIONS.find((action) => action === raw.action) ?? 'error',
    name: text(raw.name),
    text: text(raw.text),
    hint: text(raw.hint),
  };
}

/** Decodes the answer. */
export function importReport(answer: unknown): ImportReport {
  const fields = isObject(answer) ? answer : {};
  const lines = Array.isArray(fields.lines) ? fields.lines.filter(isObject).map(lineOf) : [];
  return {
    lines,
    revision: typeof fields.revision === 'number' ? fields.revision : undefined,
    digest: typeof fields.digest === 'string' ? fields.digest : undefined,
  };
}

/** Takes back what a revision did to simple queues. @throws RequestError */
export async function undoImport(revision: number): Promise<ImportReport> {
  return importReport(await request('POST', '/api/v1/queues/import/undo', { revision }));
}

/** @throws RequestError */
export async function importQueues(csv: string, { dryRun, remove, digest }: ImportOptions): Promise<ImportReport> {
  const words = { csv, 'dry-run': dryRun, remove, ...(digest !== undefined && { digest }) };
  const sent = request('POST', '/api/v1/queues/import', words);
  return importReport(await (dryRun ? harmless(sent) : sent));
}
