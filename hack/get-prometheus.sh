#!/usr/bin/env bash
# SPDX-FileCopyrightText: The ModelBox Authors
# SPDX-License-Identifier: Apache-2.0

# Gets the program from Debian's package prometheus: hack/get-prometheus.sh <program>. Without this package, it gets none.

set -o errexit -o nounset -o pipefail

program=$1

if [[ -x "${program}" ]]; then
  exit
fi
if ! command -v apt-get >/dev/null || ! apt-cache show prometheus &>/dev/null; then
  echo "no packages of Debian, so no Prometheus"
  exit
fi

echo "getting Prometheus from Debian's package"
work=$(mktemp -d)
trap 'rm -rf "${work}"' EXIT
# The program needs nothing of what the package depends on but the C library.
(cd "${work}" && apt-get download -qq -o APT::Sandbox::User=root prometheus)
dpkg --extract "${work}"/*.deb "${work}/unpacked"
mkdir -p "${program%/*}"
install "${work}/unpacked/usr/bin/prometheus" "${program}"
