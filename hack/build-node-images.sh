#!/usr/bin/env bash
# SPDX-FileCopyrightText: The ModelBox Authors
# SPDX-License-Identifier: Apache-2.0

# Builds the images that a container node starts with, as OCI archives: hack/build-node-images.sh <folder> [tests]
# The node reaches no registry. So there is its pause image, the cluster's DNS, a test application, also in place of the
# samples' image, and a database; with "tests" also what only those run: a proxy, and what collects the metrics of pods, which
# takes minutes the first time.

set -o errexit -o nounset -o pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Images have no C library.
export CGO_ENABLED=0

archives=$1 purpose=${2:-} binaries=_output/images/binaries
mkdir -p "${archives}"

build() { # program [package]
  hack/go-build.sh hack/images "${2:-./$1}" "${binaries}/$1" -buildvcs=false -ldflags '-s -w'
}

pack() { # program name entrypoint
  _output/tools/ociarchive -name "$2" -platform "linux/$(go env GOARCH)" -entrypoint "$3" \
    -output "${archives}/${2//[:\/]/-}.tar" "${binaries}/$1=/$1"
}

hack/go-build.sh hack/tools ./ociarchive _output/tools/ociarchive
build pause
build coredns
build testapp

pack pause localcluster/pause:1 '["/pause"]'
pack coredns localcluster/coredns:1 '["/coredns"]'
pack testapp localcluster/testapp:1 '["/testapp", "-version=1"]'
pack testapp localcluster/testapp:2 '["/testapp", "-version=2"]'
pack testapp nginx:1.7.9 '["/testapp", "-version=1.7.9 of the test application"]'

hack/build-mariadb-image.sh localcluster/mariadb:1 "${archives}/localcluster-mariadb-1.tar"

if [[ "${purpose}" == tests ]]; then
  build metrics-server sigs.k8s.io/metrics-server/cmd/metrics-server
  pack metrics-server localcluster/metrics-server:1 '["/metrics-server"]'
  hack/build-nginx-image.sh localcluster/nginx:1 "${archives}/localcluster-nginx-1.tar"
fi
