#!/usr/bin/env bash
# SPDX-FileCopyrightText: The ModelBox Authors
# SPDX-License-Identifier: Apache-2.0

# Unpacks packages of Debian with what they depend on: hack/unpack-debian-packages.sh <folder> <package>...
# Exits with 3 where there are no such packages.

set -o errexit -o nounset -o pipefail

folder=$1
shift

if ! command -v apt-get >/dev/null || ! apt-cache show "$@" &>/dev/null; then
  exit 3
fi

archives=$(mktemp -d)
trap 'rm -rf "${archives}"' EXIT

# With what they depend on, and what that depends on.
packages=$(apt-cache depends --recurse --no-{recommends,suggests,conflicts,breaks,replaces,enhances} "$@" | grep '^[a-z]' | sort -u)
# shellcheck disable=SC2086 # a list of packages
(cd "${archives}" && apt-get download -qq -o APT::Sandbox::User=root ${packages})
for package in "${archives}"/*.deb; do
  dpkg --extract "${package}" "${folder}"
done
