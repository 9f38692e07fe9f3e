/** Trace of packets, stage by stage: of live packets, or of a described packet (dry run). */

import { type Command, type PacketArguments, packetLine, parsePacketLine } from '@tollway/schema';
import { useContext, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { RequestError } from '../../../api/rest.ts';
import { dryRun, followTrace, type TraceNews } from '../../../api/trace.ts';
import { timeOfDay } from '../../../ui/router-clock.ts';
import { act } from '../../../wm/desktop-state.ts';
import { WindowId } from '../../../wm/window-id.ts';
import type { MenuWindowProps } from '../../window-props.ts';
import { breaksText, type Kept, keep, MAX_PACKETS } from './kept-packets.ts';
import { PacketList } from './PacketList.tsx';
import { unknownOf } from './packet-arguments.ts';
import { StepList } from './StepList.tsx';
import { TraceForm, type Wrong } from './TraceForm.tsx';
import { onRequested, takeRequested } from './trace-request.ts';
import './trace.css';

/** Error that ended a trace. Its cause may no longer exist while the message is still shown. */
const ended = ({ status, message }: RequestError): RequestError =>
  new RequestError(status, `Stopped at ${timeOfDay(Date.now())}: ${message}. Start begins anew.`);

/** Those of the arguments that a command accepts. */
const argumentsOf = (command: Command | undefined, args: PacketArguments): PacketArguments =>
  Object.fromEntries(Object.entries(args).filter(([name]) => Object.hasOwn(command?.args ?? {}, name)));

export default function TraceWindow({ menu }: MenuWindowProps) {
  const [line, setLine] = useState('');
  const [args, setArgs] = useState<PacketArguments>({});
  const [running, setRunning] = useState(false);
  const [packets, setPackets] = useState<readonly Kept[]>([]);
  const [lost, setLost] = useState(0);
  const [breaks, setBreaks] = useState(0);
  const [selected, setSelected] = useState<string>();
  const [wrong, setWrong] = useState<Wrong>();
  const run = useRef(0);
  const stop = useRef<() => void>(undefined);
  const id = useContext(WindowId);
  const title = running ? `${menu.title} (Running)` : menu.title;
  useLayoutEffect(() => act({ do: 'rename', id, title }), [id, title]);
  useEffect(() => () => stop.current?.(), []);

  function show(next: PacketArguments) {
    setArgs(next);
    setLine(packetLine(next));
  }

  function refuse(error: unknown) {
    if (error instanceof RequestError) setWrong({ property: error.property, detail: error.message });
    else setWrong({ property: undefined, detail: String(error) });
  }

  /**
   * Whether the line describes a packet; otherwise the form shows the error, and the arguments are those of the
   * previous line.
   */
  function isReadable(): boolean {
    const parsed = line === '' ? undefined : parsePacketLine(line);
    if (parsed?.ok !== false) return true;
    setWrong({ property: 'packet', detail: parsed.error });
    return false;
  }

  function begin() {
    stop.current?.();
    stop.current = undefined;
    run.current += 1;
    setRunning(false);
    setPackets([]);
    setLost(0);
    setBreaks(0);
    setSelected(undefined);
    setWrong(undefined);
    return run.current;
  }

  function ask(about: PacketArguments) {
    const mine = begin();
    dryRun(argumentsOf(menu.commands.get('dry-run'), about))
      .then((news) => {
        if (run.current !== mine) return;
        const kept = keep([], mine, news);
        setPackets(kept);
        setSelected(kept[0]?.key);
      })
      .catch((error: unknown) => run.current === mine && refuse(error));
  }

  function start() {
    const mine = begin();
    const onNews = (news: TraceNews) => {
      setLost(news.lost);
      setBreaks(news.breaks);
      setPackets((kept) => keep(kept, mine, news));
      if (news.done) setRunning(false);
    };
    const onError = (error: RequestError) => {
      setRunning(false);
      refuse(error.property === undefined ? ended(error) : error);
    };
    const filter = argumentsOf(menu.run, args);
    stop.current = followTrace({ ...filter, packets: String(MAX_PACKETS) }, { onNews, onError });
    setRunning(true);
  }

  /** Traces a packet that another window has requested, unless too little is known about it. */
  function take(about: PacketArguments) {
    show(about);
    const unknown = unknownOf(about);
    if (unknown === undefined) return ask(about);
    begin();
    setWrong(unknown);
  }

  const latest = useRef(take);
  latest.current = take;
  useEffect(() => {
    const look = () => {
      const asked = takeRequested();
      if (asked !== undefined) latest.current(asked);
    };
    look();
    return onRequested(look);
  }, []);

  const open = packets.find(({ key }) => key === selected);
  return (
    <div role="group" className="menu-table" aria-label={menu.title}>
      <TraceForm
        menu={menu}
        line={line}
        args={args}
        wrong={wrong}
        running={running}
        onLine={(text) => {
          setLine(text);
          const parsed = parsePacketLine(text);
          if (parsed.ok) setArgs({ ...(args.dropped !== undefined && { dropped: args.dropped }), ...parsed.args });
        }}
        onWord={(name, value) => {
          const { [name]: _old, ...rest } = args;
          show(value === '' ? rest : { ...rest, [name]: value });
        }}
        onDryRun={() => isReadable() && ask(args)}
        onStart={() => isReadable() && start()}
        onStop={() => {
          stop.current?.();
          setRunning(false);
        }}
      />
      <PacketList packets={packets} selected={selected} onSelect={setSelected} />
      {packets.length === 0 && (
        <p className="form-note trace-note">
          {running
            ? 'Waiting for packets.'
            : 'Describe a packet and press Dry Run, or Start to follow packets that come.'}
        </p>
      )}
      {open !== undefined && <StepList packet={open} />}
      <footer className="table-foot">
        <span>
          {packets.length} {packets.length === 1 ? 'packet' : 'packets'}
        </span>
        {breaks > 0 && <span role="status">{breaksText(breaks)}</span>}
        {lost > 0 && <span>{lost} came too fast to be recorded</span>}
      </footer>
    </div>
  );
}
