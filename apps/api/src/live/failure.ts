import { AgentGone, AgentRefusal } from '../agent/messages.js';
import { ApiError, messageOf } from '../errors.js';

/** Content of the `error` message for a thrown value. */
export function failureOf(error: unknown): { readonly detail: string; readonly property?: string } {
  if (error instanceof ApiError) {
    return { detail: error.detail ?? error.message, ...(error.property !== undefined && { property: error.property }) };
  }
  if (error instanceof AgentRefusal) return { detail: error.message };
  if (error instanceof AgentGone) return { detail: 'the data plane agent is not connected' };
  return { detail: messageOf(error) };
}
