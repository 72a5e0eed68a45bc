#!/usr/bin/env bash
# SPDX-FileCopyrightText: The ModelBox Authors
# SPDX-License-Identifier: Apache-2.0

# Builds the control planes of other versions of Kubernetes, _output/hosts/v1.<minor>. Arguments are the minors to build, all
# without: hack/build-hosts.sh [v1.33...]

set -o errexit -o nounset -o pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."

mkdir -p _output/hosts
while read -r version _; do
  minor=${version%.*}
  if [[ $# != 0 && " $* " != *" ${minor} "* ]]; then
    continue
  fi
  ldflags="-s -w"
  for package in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
    ldflags+=" -X ${package}.gitVersion=${version} -X ${package}.gitMajor=1 -X ${package}.gitMinor=${minor#v1.}"
  done
  hack/go-build.sh hack/hosts . "_output/hosts/${minor}" -modfile="${minor}.mod" -ldflags "${ldflags}"
done <hack/hosts/versions
