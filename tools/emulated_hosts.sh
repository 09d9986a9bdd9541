#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
#
# Runs a command on emulated hosts: network namespaces of this machine whose links are limited by tc. Removes them afterwards. Use it
# to measure how a network affects training, on one machine. Needs root, iproute2, and Open MPI or MPICH.
#   tools/emulated_hosts.sh COUNT RATE COMMAND...
#   tools/emulated_hosts.sh 2 1gbit build/release/roentgen bench scaling --ranks 1,2 --hosts 10.99.0.1:1,10.99.0.2:1 ...
# Hosts are 10.99.0.1 to 10.99.0.COUNT; the command runs on the first. RATE is written as for tc; "none" means no limit.
# Environment variables:
#   SLOW=NUMBER:RATE      gives the link of one host another rate
#   LOSS=PERCENT          drops this share of the packets that reach a host, at random, by an nftables rule. Needs nft; packets are
#                         split to their final size before they are sent.
#   RTT=10ms              delays packets between hosts, so that the round trip takes this long, by link_delay.py
#   EMULATED_HOSTS=NAME   names the namespaces NAME1, ..., and NAMEbr for the bridge between the links:
#                         `ip -n NAMEbr link set port2 down` disconnects the second host
set -euo pipefail

network=10.99.0
export EMULATED_HOSTS=${EMULATED_HOSTS:-rghost}
name=$EMULATED_HOSTS

if [[ ${1:-} == agent || ${1:-} == -x ]]; then  # mpirun calls this instead of ssh; MPICH adds -x, as it would for ssh
  host=$2
  shift 2
  exec ip netns exec "$name${host##*.}" unshare --uts sh -c "hostname host${host##*.}; $*"
fi

if [[ $# -lt 3 || ! $1 =~ ^[1-9][0-9]?$ ]]; then
  echo "[emulated.hosts] arguments: expected COUNT RATE COMMAND..., got '$*'; try tools/emulated_hosts.sh 2 1gbit hostname" >&2
  exit 2
fi
count=$1
rate=$2
shift 2

loss=${LOSS:-0}
if [[ ! $loss =~ ^([0-9]|[1-9][0-9])(\.[0-9]{1,2})?$ ]]; then
  echo "[emulated.hosts] LOSS: expected a percentage below 100, got '$loss'; try LOSS=1" >&2
  exit 2
fi
lost=$(awk "BEGIN { print int($loss * 100 + 0.5) }")  # lost packets of 10,000
if [[ $lost != 0 ]] && ! command -v nft >/dev/null; then
  echo "[emulated.hosts] LOSS: expected nft, got none; try apt-get install nftables" >&2
  exit 2
fi

relay=
start_relay() {
  local pairs=()
  for ((i = 1; i <= count; ++i)); do pairs+=("$name$i/eth0=${name}br/port$i"); done
  # A round trip passes the links of both hosts twice, so each link gets a quarter of the delay.
  local delay
  delay=$(awk -v rtt="$RTT" 'BEGIN { unit = rtt; sub(/^[0-9.]+/, "", unit); print rtt / 4 unit }')
  exec {ready}< <(exec "$(dirname "$0")/link_delay.py" "$delay" "${pairs[@]}")
  relay=$!
  local said
  if ! read -r said <&"$ready" || [[ $said != ready ]]; then
    echo "[emulated.hosts] RTT: expected a relay, got none; try RTT=10ms as root, and /dev/net/tun" >&2
    exit 2
  fi
}
stop_relay() {
  if [[ -z $relay ]]; then return 0; fi
  kill "$relay" 2>/dev/null || true
  wait "$relay" 2>/dev/null || true
}

# Prints how many packets the rules have counted on all hosts.
tell_loss() {
  if [[ $lost == 0 ]]; then return 0; fi
  for ((i = 1; i <= count; ++i)); do ip netns exec "$name$i" nft list chain netdev loss arriving 2>/dev/null || true; done |
    awk '/counter/ { for (f = 1; f <= NF; ++f) if ($f == "packets") { if (/drop/) lost += $(f + 1); else all += $(f + 1) } }
      END { if (all) printf "[emulated.hosts] %d of %d packets lost (%.2f%%)\n", lost, all, 100 * lost / all }' >&2
}

down() {
  for ((i = 1; i <= count; ++i)); do ip netns del "$name$i" 2>/dev/null || true; done
  ip netns del "${name}br" 2>/dev/null || true
}
trap 'set +e; tell_loss; stop_relay; down' EXIT  # runs however the command ends
down

# Allows bursts of 4 ms at 1 Gbit/s, about as much as the port of a switch buffers.
shape() { if [[ $3 != none ]]; then tc -n "$1" qdisc add dev "$2" root tbf rate "$3" burst 512k latency 50ms; fi; }

# Without gso_max_segs the kernel passes up to 64 KiB as one packet, so that losing 1% of packets loses more data at
# once.
drop_some() {
  ip -n "$1" link set eth0 gso_max_segs 1
  ip netns exec "$1" nft "add table netdev loss;
    add chain netdev loss arriving { type filter hook ingress device eth0 priority 0; };
    add rule netdev loss arriving counter;
    add rule netdev loss arriving numgen random mod 10000 < $lost counter drop"
}

ip netns add "${name}br"
ip -n "${name}br" link add br0 type bridge
ip -n "${name}br" link set br0 up
for ((i = 1; i <= count; ++i)); do ip netns add "$name$i"; done
if [[ -n ${RTT:-} ]]; then start_relay; fi
for ((i = 1; i <= count; ++i)); do
  own=$rate
  if [[ ${SLOW:-} == "$i":* ]]; then own=${SLOW#*:}; fi
  ip -n "$name$i" link set lo up
  if [[ -z $relay ]]; then ip link add eth0 netns "$name$i" type veth peer name "port$i" netns "${name}br"; fi
  ip -n "$name$i" addr add "$network.$i/24" dev eth0
  ip -n "$name$i" link set eth0 up
  ip -n "${name}br" link set "port$i" master br0
  ip -n "${name}br" link set "port$i" up
  shape "$name$i" eth0 "$own"
  shape "${name}br" "port$i" "$own"
  if [[ $lost != 0 ]]; then drop_some "$name$i"; fi
done

export OMPI_MCA_plm_rsh_agent="$(realpath "$0") agent"
export OMPI_MCA_btl=self,vader,tcp
export OMPI_MCA_btl_tcp_if_include=$network.0/24
export OMPI_MCA_oob_tcp_if_include=$network.0/24
# Without this, MPICH's UCX would bypass the links through memory that all hosts on one machine share.
export UCX_TLS=tcp,self UCX_NET_DEVICES=eth0
export HYDRA_LAUNCHER=ssh HYDRA_LAUNCHER_EXEC=$(realpath "$0") HYDRA_IFACE=eth0
ip netns exec "${name}1" unshare --uts sh -c 'hostname host1; exec "$@"' sh "$@"
