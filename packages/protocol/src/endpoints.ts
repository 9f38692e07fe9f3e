import type { Endpoint } from './endpoint.js';
import { queueAccounting } from './queue-accounting.js';
import { queueImport, queueImportUndo } from './queue-import.js';
import { revisionDetail, revisions, revisionUndo } from './revisions.js';
import { login, logout, session, setup } from './session.js';
import { values } from './values.js';

/** All routes of `/api/v1`. */
export const endpoints: readonly Endpoint[] = [
  login,
  setup,
  session,
  logout,
  revisions,
  revisionDetail,
  revisionUndo,
  queueImport,
  queueImportUndo,
  queueAccounting,
  values,
];
