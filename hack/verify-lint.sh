#!/usr/bin/env bash
# SPDX-FileCopyrightText: The ModelBox Authors
# SPDX-License-Identifier: Apache-2.0

# Runs go vet and staticcheck over the product, the local control plane, the tools, the benchmarks and the clients that tests use.

set -o errexit -o nounset -o pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."

staticcheck="${PWD}/_output/tools/staticcheck"
(cd hack/tools && go build -o "${staticcheck}" honnef.co/go/tools/cmd/staticcheck)

checks=$(tr '\n' ',' <hack/staticcheck.checks)

lint() { # module package...
  echo "linting $1"
  (cd "$1" && shift && go vet "$@" && "${staticcheck}" -checks "${checks}" "$@")
}

lint . ./...
# The other packages of the local control plane import all of Kubernetes, which would be analysed with them.
lint hack/localcluster ./cgroup ./cluster ./corevalidation ./modelbox ./node ./pki ./probe ./program ./progress ./sandbox ./supervisor ./workdir
# The others of the simulated clusters import the controllers of Kubernetes.
lint hack/universe ./store ./transport
lint hack/bench ./...
lint hack/clients ./...
lint hack/images ./...
# hack/argocd, hack/certmanager and hack/velero are left out: a file each, and all of Argo CD, cert-manager and Velero, which would be
# analysed with it for minutes.
lint hack/dashboard .
lint hack/prometheus .
lint hack/signing .
lint hack/tools ./...
