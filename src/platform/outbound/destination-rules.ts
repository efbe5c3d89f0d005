import { isIP } from 'node:net';
import { isPublicUnicast } from './address-rules.js';

/** First and last port, and what listens there as a rule. */
type PortRange = readonly [first: number, last: number, service: string];

/**
 * Well-known ports of databases, queues and control planes above 1023. None of them receives events, and many obey any
 * client that reaches them (CONTRACT, Webhooks).
 */
const CONTROL_PORTS: readonly PortRange[] = [
  [1099, 1099, 'Java RMI'],
  [1433, 1434, 'SQL Server'],
  [1521, 1521, 'Oracle'],
  [1883, 1883, 'MQTT'],
  [2049, 2049, 'NFS'],
  [2181, 2181, 'ZooKeeper'],
  [2375, 2377, 'Docker and Swarm'],
  [2379, 2380, 'etcd'],
  [2483, 2484, 'Oracle'],
  [3260, 3260, 'iSCSI'],
  [3268, 3269, 'LDAP global catalogue'],
  [3306, 3306, 'MySQL'],
  [3389, 3389, 'Remote Desktop'],
  [4222, 4222, 'NATS'],
  [4369, 4369, 'Erlang port mapper'],
  [4646, 4648, 'Nomad'],
  [5432, 5433, 'PostgreSQL'],
  [5601, 5601, 'Kibana'],
  [5671, 5672, 'AMQP'],
  [5900, 5910, 'VNC'],
  [5984, 5984, 'CouchDB'],
  [5985, 5986, 'Windows Remote Management'],
  [6000, 6063, 'X11'],
  [6379, 6380, 'Redis'],
  [6432, 6432, 'PgBouncer'],
  [6443, 6443, 'Kubernetes'],
  [6660, 6669, 'IRC'],
  [7000, 7001, 'Cassandra, WebLogic'],
  [7199, 7199, 'Cassandra'],
  [7474, 7474, 'Neo4j'],
  [7687, 7687, 'Neo4j'],
  [8086, 8086, 'InfluxDB'],
  [8200, 8201, 'Vault'],
  [8300, 8302, 'Consul'],
  [8500, 8503, 'Consul'],
  [8600, 8600, 'Consul'],
  [8883, 8883, 'MQTT'],
  [9042, 9042, 'Cassandra'],
  [9092, 9094, 'Kafka'],
  [9142, 9142, 'Cassandra'],
  [9160, 9160, 'Cassandra'],
  [9200, 9200, 'Elasticsearch'],
  [9300, 9300, 'Elasticsearch'],
  [9418, 9418, 'Git'],
  [10248, 10259, 'Kubernetes'],
  [11211, 11211, 'Memcached'],
  [15671, 15672, 'RabbitMQ'],
  [16379, 16379, 'Redis'],
  [25672, 25672, 'RabbitMQ'],
  [26379, 26379, 'Redis'],
  [27017, 27020, 'MongoDB'],
  [28015, 28015, 'RethinkDB'],
  [28017, 28017, 'MongoDB'],
  [33060, 33060, 'MySQL'],
  [50000, 50000, 'Db2'],
  [50070, 50070, 'HDFS'],
  [61616, 61616, 'ActiveMQ'],
];

/** Whether a receiver of events may listen at `port`: 443, or above 1023 except {@link CONTROL_PORTS}. */
function isReceiverPort(port: number): boolean {
  if (port < 1024) return port === 443;
  return !CONTROL_PORTS.some(([first, last]) => first <= port && port <= last);
}

/** Characters; longer ones are cut or refused along the way anyhow. */
const MAXIMUM_LENGTH = 2048;

/**
 * Why a destination is refused, and what a person is told; the key is `details.reason` of INVALID_DESTINATION
 * (CONTRACT, Errors). All but `address` can be seen from the URL alone. `address` says the same, whether a name does
 * not resolve or resolves to something that is not allowed: two answers would map a private network.
 */
export const DESTINATION_REASONS = {
  length: `The URL has more than ${MAXIMUM_LENGTH} characters.`,
  characters: 'The URL contains a control character, white space or a backslash.',
  syntax: 'This is not a URL of the form https://host/path.',
  scheme: 'The URL must start with https://.',
  user_info: 'The URL must not contain a user name or password.',
  own_address: 'This is an address of this service itself.',
  port: 'The port must be 443, 8443 or above 1023, and none of a well-known database or control service.',
  name: 'The host must be a public DNS name or a public address.',
  address: 'The host does not resolve, or not only to public addresses.',
} as const;

export type DestinationReason = keyof typeof DESTINATION_REASONS;

/** What cannot be read off a URL. Each entry is `host:port`, written as {@link hostPort} does. */
interface DestinationRules {
  /** Receivers of the operator's own (`OUTBOUND_ALLOW`). */
  allow: readonly string[];
  /** Where this product itself is reached. */
  own: readonly string[];
}

export interface AllowedDestination {
  ok: true;
  url: URL;
  /** The operator allows this very host and port: any address will do, and plain http. */
  exempt: boolean;
}

export interface RefusedDestination {
  ok: false;
  reason: DestinationReason;
  message: string;
}

/**
 * Judges a destination by its URL alone, in the reading of the WHATWG URL standard, which is the one that is dialled:
 * 0x7f.1, 2130706433 and full-width digits are 127.0.0.1 there. A name that passes still has to resolve to public
 * addresses only. CONTRACT, Webhooks; SPECIFICATION, Authentication 8.
 */
export function checkDestination(
  text: string,
  { allow, own }: DestinationRules,
): AllowedDestination | RefusedDestination {
  if (text.length > MAXIMUM_LENGTH) return refused('length');
  // The parser would drop some of these without a word, and reads a backslash as a slash.
  if (/[\p{Cc}\p{Z}\\]/u.test(text)) return refused('characters');
  const url = URL.parse(text);
  if (!url) return refused('syntax');
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return refused('scheme');
  const authority = /^https?:\/\/([^/?#]+)/i.exec(text)?.[1];
  if (authority === undefined) return refused('syntax');
  if (authority.includes('@')) return refused('user_info');

  const place = hostPort(url);
  if (own.includes(place)) return refused('own_address');
  if (allow.includes(place)) return { ok: true, url, exempt: true };

  if (url.protocol !== 'https:') return refused('scheme');
  if (url.port !== '' && !isReceiverPort(Number(url.port))) return refused('port');
  const literal = literalOf(url);
  if (literal === undefined && !isPublicName(url.hostname)) return refused('name');
  if (literal !== undefined && !isPublicUnicast(literal)) return refused('address');
  return { ok: true, url, exempt: false };
}

export function refused(reason: DestinationReason): RefusedDestination {
  return { ok: false, reason, message: DESTINATION_REASONS[reason] };
}

/** Host and port of an http or https URL, the port always written: `example.com:443`, `[::1]:8080`. */
export function hostPort(url: URL): string {
  return `${url.hostname}:${url.port || (url.protocol === 'https:' ? '443' : '80')}`;
}

/** The address that a URL names itself, without brackets; undefined if it names a host. */
export function literalOf({ hostname }: URL): string | undefined {
  const bare = hostname.replace(/^\[(.*)\]$/, '$1');
  return isIP(bare) === 0 ? undefined : bare;
}

/**
 * Top-level names that no public server answers for: RFC 6761, 6762 (with the names of private networks in its
 * appendix G), 7686, 8375 and 9476, and `internal`, which ICANN set aside. `example` is left out: documentation uses
 * it, and it does not resolve.
 */
const PRIVATE_TOP_LEVELS = new Set([
  ...['localhost', 'localdomain', 'local', 'internal', 'intranet', 'private', 'corp', 'home', 'lan'],
  ...['arpa', 'test', 'invalid', 'onion', 'alt'],
]);

/** Two labels or more, letters, digits, hyphens and underscores, and no dot at the end, which certificates lack. */
function isPublicName(hostname: string): boolean {
  const labels = hostname.split('.');
  return (
    labels.length > 1 &&
    hostname.length <= 253 &&
    labels.every((label) => /^(?!-)[a-z\d_-]{1,63}(?<!-)$/.test(label)) &&
    !PRIVATE_TOP_LEVELS.has(labels.at(-1)!)
  );
}
