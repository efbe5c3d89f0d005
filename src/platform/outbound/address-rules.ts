import { BlockList, isIP } from 'node:net';

/** A block of addresses: the first of them, the length of the prefix in bits, and what it is for. */
type Block = readonly [first: string, prefix: number, purpose: string];

/**
 * The IANA IPv4 Special-Purpose Address Registry, whole: also the blocks that it calls globally reachable, since
 * nobody receives events at a name server for reverse lookups or at a relay. After it, what other registries and the
 * platforms add.
 */
export const SPECIAL_IPV4: readonly Block[] = [
  ['0.0.0.0', 8, 'this network; on Linux a way to the own machine'],
  ['10.0.0.0', 8, 'private use'],
  ['100.64.0.0', 10, 'shared by carriers (CGNAT); 100.100.100.200 in it is the metadata of Alibaba Cloud'],
  ['127.0.0.0', 8, 'loopback'],
  ['169.254.0.0', 16, 'link local; 169.254.169.254 in it is the metadata of most clouds'],
  ['172.16.0.0', 12, 'private use'],
  ['192.0.0.0', 24, 'IETF protocol assignments; 192.0.0.192 in it is the metadata of Oracle Cloud'],
  ['192.0.2.0', 24, 'documentation, TEST-NET-1'],
  ['192.31.196.0', 24, 'AS112, version 4'],
  ['192.52.193.0', 24, 'automatic multicast tunnelling'],
  ['192.88.99.0', 24, '6to4 relays, deprecated'],
  ['192.168.0.0', 16, 'private use'],
  ['192.175.48.0', 24, 'AS112, direct delegation'],
  ['198.18.0.0', 15, 'benchmarking'],
  ['198.51.100.0', 24, 'documentation, TEST-NET-2'],
  ['203.0.113.0', 24, 'documentation, TEST-NET-3'],
  ['240.0.0.0', 4, 'reserved, with the limited broadcast address'],

  ['224.0.0.0', 4, 'multicast'],
  ['168.63.129.16', 32, "Azure's wire server, a public address that only its virtual machines reach"],
];

/** IANA assigns unicast addresses from this block only; all the rest of IPv6 is refused without looking further. */
const GLOBAL_UNICAST_IPV6: Block = ['2000::', 3, 'global unicast'];

/**
 * What the IANA IPv6 Special-Purpose Address Registry takes out of {@link GLOBAL_UNICAST_IPV6}. Its other blocks lie
 * outside: loopback, IPv4-mapped, IPv4-compatible, NAT64 (64:ff9b::/96, 64:ff9b:1::/48), discard, segment routing,
 * unique local (with the metadata addresses fd00:ec2::254 and fd20:ce::254), link local, multicast.
 */
export const SPECIAL_IPV6: readonly Block[] = [
  ['2001::', 23, 'IETF protocol assignments: Teredo, benchmarking, AMT, AS112, ORCHID, ORCHIDv2, drone tags'],
  ['2001:db8::', 32, 'documentation'],
  ['2002::', 16, '6to4: an IPv4 address, private ones too, written into the prefix'],
  ['2620:4f:8000::', 48, 'AS112, direct delegation'],
  ['3fff::', 20, 'documentation'],
];

const specialIpv4 = new BlockList();
for (const [first, prefix] of SPECIAL_IPV4) specialIpv4.addSubnet(first, prefix, 'ipv4');

const globalIpv6 = new BlockList();
globalIpv6.addSubnet(GLOBAL_UNICAST_IPV6[0], GLOBAL_UNICAST_IPV6[1], 'ipv6');

const specialIpv6 = new BlockList();
for (const [first, prefix] of SPECIAL_IPV6) specialIpv6.addSubnet(first, prefix, 'ipv6');

/**
 * Whether `address` is one that anybody on the internet reaches and that belongs to one machine (SPECIFICATION,
 * Authentication 8; CONTRACT, Webhooks). Takes a plain IPv4 or IPv6 address, as a resolver or a socket tells it;
 * anything else, a zone included, is not one.
 */
export function isPublicUnicast(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !specialIpv4.check(address, 'ipv4');
    case 6:
      return (
        !address.includes('%') &&
        globalIpv6.check(address, 'ipv6') &&
        !specialIpv6.check(address, 'ipv6') &&
        !isIsatap(address)
      );
    default:
      return false;
  }
}

/** ISATAP (RFC 5214) puts an IPv4 address behind 0:5efe or 200:5efe in any prefix, so no block can name it. */
function isIsatap(address: string): boolean {
  const [head = [], tail] = address.split('::').map(groupsOf);
  const missing = 8 - head.length - (tail?.length ?? 0);
  const groups = tail ? [...head, ...Array<number>(missing).fill(0), ...tail] : head;
  return (groups[4]! & ~0x200) === 0 && groups[5] === 0x5efe;
}

/** The 16-bit groups of one side of `::`; a dotted quad at the end stands for two. */
function groupsOf(side: string): number[] {
  return side
    .split(':')
    .filter(Boolean)
    .flatMap((group) => (group.includes('.') ? [0, 0] : [Number.parseInt(group, 16)]));
}
