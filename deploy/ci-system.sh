#!/usr/bin/env bash
# Debian packages that the system tests need. Says nothing and does nothing where they are already there.
set -euo pipefail

packages=(chromium fonts-dejavu-core postgresql)  # a browser for the report page, a database for Prefect
packages+=(slurm-wlm munge iproute2)  # a Slurm of one node, and hosts with cables to pull
packages+=(libcairo2)  # draws DET curves as PDF
packages+=(sctk)  # the official speech-to-text scorer, run beside ours

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$status" = installed ] || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

if [ "$(id -u)" -eq 0 ]; then as_root=()
elif sudo -n true 2>/dev/null; then as_root=(sudo -n)
else
  echo "deploy/ci-system.sh: ${missing[*]} must be installed by root (apt-get install ${missing[*]})" >&2
  exit 1
fi

"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update -qq
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
