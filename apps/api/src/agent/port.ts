import type { Hello, Message, ReplyFor, RequestBody } from './messages.js';

export type AgentEvent = Extract<Message, { type: 'event' }>;

/** The API's interface to the agent, independent of the transport. */
export interface AgentPort {
  /** The agent's first message; undefined while it is not connected. */
  readonly hello: Hello | undefined;
  /** Starts connecting, and reconnects after each loss. */
  open(): void;
  close(): void;
  /**
   * Sends a request.
   * @throws AgentRefusal when it is refused, AgentGone when the agent is not connected or does not answer.
   */
  request<B extends RequestBody>(body: B, timeoutMs?: number): Promise<ReplyFor[B['op']]>;
  /** Registers a listener that is called after each connection, once the agent has sent its first message. */
  onUp(listener: (hello: Hello) => void): void;
  /** Registers a listener that is called after each loss of the connection. */
  onDown(listener: () => void): void;
  onEvent(listener: (event: AgentEvent) => void): void;
}
