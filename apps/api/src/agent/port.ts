import type { Hello, Message, ReplyFor, RequestBody } from './messages.js';

export type AgentEvent = Extract<Message, { type: 'event' }>;

/** What the API needs of the agent, however it is reached. */
export interface AgentPort {
  /** The agent's introduction while it is connected. */
  readonly hello: Hello | undefined;
  /** Connects, and connects again, from now on. */
  open(): void;
  close(): void;
  /**
   * Asks the agent.
   * @throws AgentRefusal when it says no, AgentGone when there is none or the answer does not come.
   */
  request<B extends RequestBody>(body: B, timeoutMs?: number): Promise<ReplyFor[B['op']]>;
  /** Each time a connection was made and the agent has introduced itself. */
  onUp(listener: (hello: Hello) => void): void;
  /** Each time the connection was lost. */
  onDown(listener: () => void): void;
  onEvent(listener: (event: AgentEvent) => void): void;
}
