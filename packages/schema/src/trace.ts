/** What a packet trace tells browsers: the packets with the names of the configuration. */

/** A row of the configuration that a stage decided by. */
export interface TracedRow {
  /** `.id` */
  readonly id: string;
  /** Path of its menu; absent when the row is gone, or was made by the data plane. */
  readonly menu?: string;
  /** Its name; of a rule its place in the menu, what it does, and its comment. */
  readonly label: string;
  /** What a rule did that decided nothing: `logged by`. */
  readonly effect?: string;
}

/** What one stage did with a packet. */
export interface TracedStep {
  readonly stage: string;
  readonly decision: string;
  readonly rows: readonly TracedRow[];
}

/** A traced packet. */
export interface ShownPacket {
  /** Counts up within a trace. */
  readonly number: number;
  /** Milliseconds since 1970. */
  readonly timeMs: number;
  /** Name of an interface; empty for packets of the router itself. */
  readonly in: string;
  /** Name of an interface; empty when it left by none. */
  readonly out: string;
  readonly protocol: string;
  /** Address, with the port where there is one. */
  readonly src: string;
  readonly dst: string;
  /** Bytes of the IP packet on the wire. */
  readonly length: number;
  /** How many packets it is on the wire, when its sender left cutting it to the device; absent for one. */
  readonly segments?: number;
  readonly fast: boolean;
  readonly slowReason?: string;
  readonly outcome: string;
  readonly dropReason?: string;
  readonly steps: readonly TracedStep[];
}
