import { toProblem } from '@tollgate/http/problem';
import type { ConnectTrace, SocketTrace, TracedEnd } from '../../trace/socket-trace.ts';
import { passedOn } from '../../trace/trace-context.ts';
import type { Identity } from '../caller/identify.ts';
import type { Protocol } from '../protocol.ts';
import type { AddressVisit, VisitUpstream } from './upstream-addresses.ts';
import { UpstreamLink } from './upstream-link.ts';
import type { Opening, UpstreamClose, UpstreamEvents, UpstreamSettings } from './upstream-link.ts';
import { upstreamOpening } from './upstream-opening.ts';
import type { UpgradeFacts } from './upstream-opening.ts';

/** What the connections of one caller's socket have in common. */
export type UpstreamSideOptions = {
  settings: UpstreamSettings;
  visit: VisitUpstream;
  protocol: Protocol;
  facts: UpgradeFacts;
  requestId: string;
  trace: SocketTrace | null;
  /** The caller's, without its credentials. */
  initPayload: unknown;
  /** Stops and goes on reading what the caller sends. */
  caller: { pause: () => void; resume: () => void };
  onMessage: UpstreamEvents['onMessage'];
  /** A connection is gone that this side has not closed. */
  onLost: (closed: UpstreamClose & { ending: NonNullable<UpstreamClose['ending']> }) => void;
};

const ACKNOWLEDGED: TracedEnd = { outcome: 'acknowledged', failed: false };
const LEFT: TracedEnd = { outcome: 'left', failed: false };

/** The upstream's side of a caller's socket: one connection at a time, opened when an operation needs it. */
export class UpstreamSide {
  readonly #options: UpstreamSideOptions;
  #current: { link: UpstreamLink; visit: AddressVisit; trace: ConnectTrace | null } | null = null;
  #paused = false;
  #resumedMs = 0;

  constructor(options: UpstreamSideOptions) {
    this.#options = options;
  }

  /** The connection, where there is one. */
  get link(): UpstreamLink | null {
    return this.#current?.link ?? null;
  }

  /**
   * The connection when connection_init is acknowledged. One that never came to be open had nothing sent: while
   * it is still wanted there is a second attempt, at another address where there is one; a single address that
   * doesn't answer in time is not waited for again.
   * @throws {Problem} upstream_unreachable, upstream_timeout.
   */
  async ready(identity: Identity, isWanted: () => boolean): Promise<UpstreamLink> {
    const { link, visit } = (this.#current ??= this.#connect(identity, null));
    try {
      await link.ready;
      return link;
    } catch (error) {
      // What didn't answer in all that time wouldn't now, and the caller would wait twice as long as was set.
      const isInVain = visit.isOnly && toProblem(error).code === 'upstream_timeout';
      if (link.wasOpened || isInVain || !isWanted()) throw error;
    }
    const second = (this.#current ??= this.#connect(identity, visit));
    await second.link.ready;
    return second.link;
  }

  /** The caller doesn't read: neither is the upstream read. */
  pause(): void {
    this.#paused = true;
    this.link?.pause();
  }

  resume(): void {
    this.#paused = false;
    this.#resumedMs = performance.now();
    this.link?.resume();
  }

  isPaused(): boolean {
    return this.#paused;
  }

  /** Since when it has been read without a pause, by performance.now(). */
  resumedMs(): number {
    return this.#resumedMs;
  }

  close(): void {
    this.link?.close();
    this.#current?.trace?.end(LEFT);
    this.#current = null;
  }

  #connect({ active, payer }: Identity, failed: AddressVisit | null) {
    const { visit: visitUpstream, protocol, facts, requestId, initPayload } = this.#options;
    const callerIds = {
      accountId: active.account_id,
      payerId: payer.payerId,
      applicationId: active.application_id,
    };
    const visit = visitUpstream(failed);
    const trace = this.#options.trace?.connect(visit.url, failed === null ? 1 : 2) ?? null;
    const fields = trace?.fields() ?? passedOn(null, requestId);
    const opening = upstreamOpening(visit.url, facts, callerIds, requestId, fields);
    const link = this.#open({ ...opening, protocol, initPayload }, visit, trace);
    if (this.#paused) link.pause();
    return { link, visit, trace };
  }

  #open(opening: Opening, visit: AddressVisit, trace: ConnectTrace | null): UpstreamLink {
    const { settings, caller, onMessage, onLost } = this.#options;
    try {
      const link: UpstreamLink = new UpstreamLink(settings, opening, caller, {
        onMessage,
        onReady: () => {
          visit.succeeded();
          trace?.end(ACKNOWLEDGED);
        },
        onClosed: (closed) => {
          visit.ended(closed.how);
          trace?.end({ outcome: closed.how, failed: closed.how !== 'left' });
          if (this.link === link) this.#current = null;
          const { ending } = closed;
          if (ending !== null) onLost({ ...closed, ending });
        },
      });
      return link;
    } catch (error) {
      // Of a request that can't be made at all.
      visit.ended('left');
      trace?.end(LEFT);
      throw error;
    }
  }
}
