import { join } from 'node:path';
import { MAX_TRACES } from '@tollway/dataplane-agent/records';
import fastify, { type FastifyInstance, type FastifyReply, LogController } from 'fastify';
import { QueueAccounting } from './accounting/queue-days.js';
import { QueueRecords } from './accounting/records.js';
import type { AgentPort } from './agent/port.js';
import { oneAddress } from './auth/address.js';
import { Authenticator } from './auth/authenticator.js';
import { FailureReport, recordFailedLogin } from './auth/failed-logins.js';
import { LOGIN_LIMITS, type LoginLimits, LoginRateLimiter } from './auth/login-rate-limiter.js';
import { Sessions } from './auth/sessions.js';
import type { SetupToken } from './auth/setup-token.js';
import { Users } from './auth/users.js';
import { defaultConfiguration } from './config/defaults.js';
import { Editor } from './config/editor.js';
import { adoptPorts } from './config/ports.js';
import { authorText, readConfig, type StoredConfig, SYSTEM } from './config/revision-storage.js';
import { ConfigStore, type Log } from './config/store.js';
import type { Database } from './database/client.js';
import { DatabaseWatch } from './database/watch.js';
import type { Defaults } from './env.js';
import { errorBody } from './errors.js';
import { Generations, hasCopies } from './generations/generations.js';
import { QueueFindings } from './lint/queue-findings.js';
import { Hub } from './live/hub.js';
import { readSamples, TrafficFile } from './live/traffic-file.js';
import { RouterLog } from './logging/router-log.js';
import { compile, createViews, menuChecks, menuCommands } from './menus/index.js';
import { authentication } from './plugins/auth.js';
import { jsonBodies } from './plugins/body.js';
import { CONNECTION_LIMITS, type ConnectionLimits, Connections, endStreams } from './plugins/connections.js';
import { errorAnswers } from './plugins/errors.js';
import { forwardedAddresses } from './plugins/forwarded.js';
import { apiDescription } from './plugins/openapi.js';
import { requestOrigin } from './plugins/origin.js';
import { secure, securityHeaders } from './plugins/security-headers.js';
import { singlePageApp } from './plugins/spa.js';
import { protocolValidation } from './plugins/validation.js';
import { accountingRoute } from './routes/accounting.js';
import { healthRoute } from './routes/health.js';
import { liveRoute } from './routes/live.js';
import { metricsRoute } from './routes/metrics.js';
import { queueImportRoute, queueImportUndoRoute } from './routes/queue-import.js';
import { restRoutes } from './routes/rest.js';
import { revisionRoutes } from './routes/revisions.js';
import { sessionRoutes, setFirstPassword } from './routes/session.js';
import { valuesRoute } from './routes/values.js';
import { FairShare } from './scheduling/fair-share.js';
import { UserSemaphore } from './scheduling/user-semaphore.js';
import type { Services } from './services.js';
import { Alarms } from './state/alarms.js';
import { CpuLoad } from './state/cpu-load.js';
import { activeConfigBytes, folderProblem } from './state/data-folder.js';
import { LiveState } from './state/live-state.js';

export interface AppOptions {
  readonly db: Database;
  /** Path of the database file; without it the file is not watched. */
  readonly databaseFile?: string;
  /** A second client of the same database, for writes of the configuration. */
  readonly writer: Database;
  /** The configuration, if it has been read already. */
  readonly stored?: StoredConfig;
  /** A third client, for the accounting of queues. */
  readonly counts: Database;
  /** A fourth client, for writes of users. */
  readonly accounts: Database;
  /** Creates the connection to the agent, which logs its errors to `log`. */
  readonly agent: (log: Log) => AgentPort;
  readonly setup: SetupToken;
  readonly dataDir: string;
  readonly defaults: Defaults;
  readonly adminPassword: string | undefined;
  /** Retention period of the accounting of queues, days. */
  readonly accountingDays: number;
  /** Host names that requests may have beside the router's addresses, in lower case. */
  readonly names: readonly string[];
  /** Addresses of the reverse proxies whose `X-Forwarded-For` is trusted. */
  readonly trustedProxies: readonly string[];
  /** Limits of connections that differ from the defaults. */
  readonly connectionLimits?: Partial<ConnectionLimits>;
  /** Limits of failed logins that differ from the defaults. */
  readonly loginLimits?: Partial<LoginLimits>;
  /** Time limit of each part of a write of the configuration, ms, where it is not the default. */
  readonly writeWaitMs?: number;
  readonly webRoot: string | undefined;
  /** Takes log messages for the output of the process, where that is not standard output. */
  readonly echo?: (text: string) => void;
  /** pino level; lines go to standard error. */
  readonly logLevel: string;
}

/** Interval of checks of the offset from UTC, ms. */
const CLOCK_MS = 30_000;

/**
 * Long lists in transfer at a time, of all users and of one; further ones wait. Each may hold a quarter of a million
 * connections.
 */
const MAX_LISTS = 32;
const MAX_LISTS_OF_USER = 8;

/** Fastify's `trustProxy`: whether an address is one of the proxies; without any the header is ignored. */
function trusting(proxies: readonly string[]): false | ((address: string) => boolean) {
  const known = new Set(proxies.map(oneAddress));
  return known.size === 0 ? false : (address) => known.has(oneAddress(address));
}

/** A component with timers or connections, which must be closed. */
interface Part {
  close(): unknown;
}

/**
 * Composes the application. The database must be migrated; the agent may be absent. On failure, as with a locked database,
 * all components that have started are closed.
 */
export async function buildApp(options: AppOptions): Promise<FastifyInstance> {
  const begun: Part[] = [];
  try {
    return await build(options, begun);
  } catch (error) {
    await Promise.all(begun.map((part) => part.close()));
    throw error;
  }
}

/** @param begun receives the components to close on failure */
async function build(options: AppOptions, begun: Part[]): Promise<FastifyInstance> {
  const { db } = options;
  const isProxy = trusting(options.trustedProxies);
  const limits = { ...CONNECTION_LIMITS, ...options.connectionLimits };
  const connections = new Connections(limits, isProxy || undefined);
  const app = fastify({
    serverFactory: connections.serve,
    logger: { level: options.logLevel, stream: process.stderr },
    logController: new LogController({ disableRequestLogging: true }),
    forceCloseConnections: true,
    trustProxy: isProxy,
    clientErrorHandler: connections.broken,
    routerOptions: { ignoreTrailingSlash: false, maxParamLength: 4096 },
    // A path that cannot be decoded is refused like any other wrong input.
    frameworkErrors: (error, request, reply: FastifyReply) => {
      secure(request, reply);
      reply.code(400).send(errorBody(400, error.message));
    },
  });
  const agent = options.agent(app.log);
  const stored = options.stored ?? (await readConfig(options.writer));
  const { dataDir, echo = (text: string) => void process.stdout.write(text) } = options;
  // The log never sustains more than one line per millisecond, so that ids from the clock are not reused after a
  // restart.
  const log = new RouterLog({ dataDir, echo, firstId: Date.now() }, stored.snapshot);
  begun.push(log);
  const watch =
    options.databaseFile === undefined
      ? undefined
      : new DatabaseWatch(
          options.databaseFile,
          options.writer,
          (fault) => {
            app.log.error(fault.text);
            log.add('system,error,critical', fault.text);
          },
          () => hasCopies(options.dataDir),
          () => activeConfigBytes(options.dataDir),
        );
  if (watch !== undefined) begun.push(watch);
  const store = new ConfigStore(
    options.writer,
    agent,
    app.log,
    stored,
    { checks: menuChecks, compile },
    watch,
    options.writeWaitMs,
  );
  // The message about a change of the log's rules is handled by the new rules.
  store.onCommit(({ changes }) => log.follow(changes, store.snapshot));
  const users = await Users.open(db, options.accounts, watch);
  const sessions = await Sessions.open(db);
  begun.push(sessions);
  const { value: database } = await options.writer.identity.findFirstOrThrow();
  const generations = new Generations(options.dataDir, {
    database,
    store,
    users: () => users.kept(),
    log: (message) => log.add('system,error', message),
  });
  begun.push(generations);
  await generations.begin();
  store.onCommit((committed) => generations.committed(committed));
  users.onChange(() => generations.usersChanged());
  const problem = () => folderProblem(options.dataDir, generations.problem);
  const alarms = new Alarms(store, watch, problem);
  const live = new LiveState(agent);
  const cpuLoad = new CpuLoad();
  const queueFindings = new QueueFindings(store);
  const views = createViews({ store, live, users, log: log, cpuLoad, queueFindings, dataDir: options.dataDir });
  const accounting = new QueueAccounting(
    new QueueRecords(options.counts),
    { store, live, failed: (error) => watch?.recordError(error) ?? app.log.error(error) },
    options.accountingDays,
  );
  const editor = new Editor(store);
  const lists = new UserSemaphore(MAX_LISTS, MAX_LISTS_OF_USER);
  const traces = new FairShare(MAX_TRACES);
  const failures = new FailureReport(({ user, address, text }) => {
    log.add('system,error,critical', text);
    recordFailedLogin(db, user, address, text).catch(
      (error: unknown) => watch?.recordError(error) ?? app.log.error(error),
    );
  });
  const loginRateLimiter = new LoginRateLimiter({ ...LOGIN_LIMITS, ...options.loginLimits });
  for (const { address, userId } of sessions.list()) {
    const user = users.byId(userId);
    if (user !== undefined) loginRateLimiter.remember(address, user.name);
  }
  const authenticator = new Authenticator(users, sessions, loginRateLimiter, failures);
  const services: Services = {
    db,
    store,
    editor,
    live,
    users,
    sessions,
    authenticator,
    log,
    views,
    commands: menuCommands,
    accounting,
    lists,
    traces,
  };

  writeLog(log, agent, store, alarms);
  if (users.needsSetup && options.adminPassword !== undefined) await setFirstPassword(services, options.adminPassword);
  if (users.needsSetup) await options.setup.issue();
  else await options.setup.revoke();

  let seeded = false;
  store.keepAgentSynced(async () => {
    await seed(store, agent, options.defaults);
    seeded = true;
  });

  const samplesFile = join(options.dataDir, 'traffic.json');
  const hub = new Hub(services, cpuLoad, alarms, (error) => app.log.error(error), await readSamples(samplesFile));
  const kept = new TrafficFile(samplesFile, () => hub.traffic.history());
  const clock = setInterval(() => {
    store.followClock(SYSTEM).catch((error: unknown) => app.log.error(error));
  }, CLOCK_MS).unref();
  app.addHook('onClose', async () => {
    clearInterval(clock);
    failures.flush();
    await kept.close();
    // Writes under way must reach the kept generations before their listener is closed.
    await Promise.all([store.close(), users.close(), sessions.close()]);
    watch?.close();
    generations.close();
    await accounting.stop().catch((error: unknown) => app.log.error(error));
    agent.close();
    await log.close();
  });
  securityHeaders(app);
  if (isProxy !== false) forwardedAddresses(app);
  errorAnswers(app, watch);
  protocolValidation(app);
  requestOrigin(app, options.names);
  jsonBodies(app, limits.publicBodyMs);
  endStreams(app);
  await authentication(app, authenticator, connections, store);
  healthRoute(app, services, () => seeded, watch, problem);
  sessionRoutes(app, services, authenticator, options.setup);
  revisionRoutes(app, services);
  valuesRoute(app, services);
  accountingRoute(app, services);
  metricsRoute(app, services);
  queueImportRoute(app, services);
  queueImportUndoRoute(app, services);
  restRoutes(app, services);
  await liveRoute(app, hub);
  await apiDescription(app);
  await singlePageApp(app, options.webRoot);
  agent.open();
  accounting.start();
  return app;
}

/**
 * Adds rows for new ports, and the default configuration to an empty database. Both are one revision, so that a crash
 * cannot leave the ports without the default configuration.
 */
async function seed(store: ConfigStore, agent: AgentPort, defaults: Defaults): Promise<void> {
  const ports = agent.hello?.ports ?? [];
  const summary = ({ found, isFilled }: { found: readonly string[]; isFilled: boolean }) =>
    `ports found: ${found.join(', ')}${isFilled ? '; default configuration' : ''}`;
  await store.commit(SYSTEM, summary, (draft) => {
    const isEmpty = [...store.snapshot.values()].every((rows) => rows.length === 0);
    const found = adoptPorts(draft, ports);
    const names = ports.map((port) => port.name);
    const rows = isEmpty ? defaultConfiguration(defaults, names) : [];
    for (const { menu, values, disabled, comment } of rows) draft.add(menu, { values, disabled, comment });
    return { found, isFilled: rows.length > 0 };
  });
}

/** Writes the events of the router itself to `/log`. */
function writeLog(log: RouterLog, agent: AgentPort, store: ConfigStore, alarms: Alarms): void {
  log.add('system,info', 'router management started');
  let reported: readonly string[] = [];
  const reportRules = () => {
    const now = alarms.ineffectiveRules();
    for (const text of now) if (!reported.includes(text)) log.add('firewall,error,critical', text);
    reported = now;
  };
  reportRules();
  agent.onEvent((event) => {
    // When a link changes, the data plane sends a log line, too: that line is logged, and the event of the link is not.
    if (event.event === 'log') log.add(event.topics, event.message, event['time-ms']);
  });
  agent.onUp((hello) => log.add('system,info', `data plane connected, version ${hello.version}`));
  agent.onDown(() => log.add('system,error', 'data plane connection lost'));
  store.onCommit(({ summary, author, revision }) =>
    log.add('system,info', `${summary} by ${authorText(author)} (revision ${revision})`),
  );
  store.onCommit(reportRules);
}
