/** What a test reads the database with, as its owner. */
type Rows = <T = Record<string, unknown>>(sql: string, values?: unknown[]) => Promise<T[]>;

/**
 * Lets the database itself note what happened around a kill, by its own clock, at the moment before each commit, and
 * which mode the guardian had for everyone at that moment. So no clock of a process decides what came first.
 *
 * `marked`: a packet was marked as sending. `ended`: it is no longer being sent. `mail`: its mail began at the
 * receiver ({@link noteMail}). `killed` and `lifted`: the guardian.
 */
export async function installWitness(rows: Rows): Promise<void> {
  await rows(`
    create table witness (what text not null, id text not null, status text, mode text, at timestamptz not null);
    create index on witness (what, at);
    create function witness_packet() returns trigger language plpgsql security definer as $$
    begin
      insert into witness
        select case when new.status = 'sending' then 'marked' else 'ended' end, new.work_packet_id, new.status, g.mode,
          clock_timestamp()
        from guardians g where g.workspace_id = new.workspace_id;
      return null;
    end $$;
    create constraint trigger witness_packet after update on work_packets deferrable initially deferred for each row
      when (new.status = 'sending' and new.attempts <> old.attempts
        or old.status = 'sending' and new.status <> 'sending')
      execute function witness_packet();
    create function witness_guardian() returns trigger language plpgsql security definer as $$
    begin
      insert into witness values (case new.mode when 'killed' then 'killed' else 'lifted' end, new.workspace_id, null,
        new.mode, clock_timestamp());
      return null;
    end $$;
    create constraint trigger witness_guardian after update on guardians deferrable initially deferred for each row
      when (new.mode <> old.mode) execute function witness_guardian();
  `);
}

/** Notes that the mail of this packet begins; answers how the packet stands just then. */
export async function noteMail(rows: Rows, workPacketId: string): Promise<string> {
  const [row] = await rows<{ status: string }>(
    `insert into witness select 'mail', p.work_packet_id, p.status, g.mode, clock_timestamp()
     from work_packets p join guardians g using (workspace_id) where p.work_packet_id = $1 returning status`,
    [workPacketId],
  );
  return row!.status;
}

/** One kill, as the database saw it; times in Unix milliseconds. */
export interface WitnessedKill {
  killedAt: number;
  /** Infinity while it stands. */
  liftedAt: number;
  /** Packets that were marked as sending although it stood. Must be none. */
  marked: string[];
  /** Packets whose mail began while it stood. */
  mails: string[];
  /** When the last of them began. */
  lastMailAt: number | null;
  /** When the last packet that had been handed out was recorded as ended. */
  lastEndAt: number | null;
}

/** Each kill so far, oldest first. */
export async function witnessedKills(rows: Rows): Promise<WitnessedKill[]> {
  const during = (what: string) =>
    `from witness w where w.what = '${what}' and w.at > k.at and w.at < k.until`;
  const ms = (at: string) => `(extract(epoch from ${at}) * 1000)::float8`;
  return rows<WitnessedKill>(`
    with turns as (
      select what, at, lead(at, 1, 'infinity') over (order by at) as until
      from witness where what in ('killed', 'lifted')
    ), kills as (select at, until from turns where what = 'killed')
    select ${ms('at')} as "killedAt", ${ms('until')} as "liftedAt", array(select id ${during('marked')}) as marked,
      array(select id ${during('mail')}) as mails, (select ${ms('max(w.at)')} ${during('mail')}) as "lastMailAt",
      (select ${ms('max(w.at)')} ${during('ended')}) as "lastEndAt"
    from kills k order by at`);
}

/** Packets that were marked as sending by a transaction for which the kill had already committed. Must be none. */
export async function markedUnderKill(rows: Rows): Promise<string[]> {
  const found = await rows<{ id: string }>(
    `select id from witness where what = 'marked' and mode = 'killed'`,
  );
  return found.map(({ id }) => id);
}
