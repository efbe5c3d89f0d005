import { StartRefused } from '../kernel/start-refused.js';
import { APP_ROLE } from './data-source.js';

const CHECK = /* sql */ `
select
  current_user = $1 as as_app,
  (select bool_or(rolsuper or rolbypassrls) from pg_roles where rolname in (current_user, session_user)) as can_bypass,
  array(select rolname::text from pg_roles where rolname not in ($1, session_user)
    and pg_has_role(session_user, oid, 'member') order by 1) as other_roles,
  exists (select 1 from pg_class c join pg_roles r on r.oid = c.relowner
    where r.rolname in (current_user, session_user) and c.relnamespace = 'public'::regnamespace) as owns,
  array(select c.relname::text from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'workspace_id'
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
      and not (c.relrowsecurity and c.relforcerowsecurity
        and exists (select 1 from pg_policy p where p.polrelid = c.oid and p.polname = 'isolation')
        and not exists (select 1 from pg_policy p where p.polrelid = c.oid and p.polpermissive
          and p.polroles <> array['consigliere_system'::regrole::oid]
          and coalesce(pg_get_expr(p.polqual, c.oid), pg_get_expr(p.polwithcheck, c.oid))
            not like '%app.workspace_id%')) order by 1) as open_tables
`;

/** Answers the rows of a statement. */
interface Asked {
  query(text: string, values: unknown[]): Promise<unknown>;
}

interface Found {
  as_app: boolean;
  can_bypass: boolean;
  other_roles: string[];
  owns: boolean;
  open_tables: string[];
}

/**
 * Refuses to go on when the isolation of workspaces could be bypassed: wrong role, a role that owns tables or skips
 * row-level security, a login that can become any other, or a tenant table whose policies are missing, not forced, or open.
 */
export async function assertIsolation(database: Asked): Promise<void> {
  const [found] = (await database.query(CHECK, [APP_ROLE])) as [Found];
  const faults = [
    !found.as_app && `the connection does not work as ${APP_ROLE}`,
    found.can_bypass && `${APP_ROLE}, or its login, can bypass row-level security`,
    found.owns && `${APP_ROLE}, or its login, owns tables`,
    found.other_roles.length > 0 && `the login can become ${found.other_roles.join(', ')}`,
    found.open_tables.length > 0 && `without forced isolation: ${found.open_tables.join(', ')}`,
  ].filter(Boolean);
  if (faults.length > 0)
    throw new StartRefused(
      `Workspaces are not isolated in this database: ${faults.join('; ')}. Undo what was changed by hand; docs/security.md says what must hold.`,
    );
}
