#!/usr/bin/env bash
# SPDX-FileCopyrightText: The ModelBox Authors
# SPDX-License-Identifier: Apache-2.0

# Builds Argo CD, Velero, Gatekeeper, Kyverno and stern, which pkg/e2e/ecosystem tests boxes with, and puts the manifests that they need
# beside them: hack/build-ecosystem.sh <folder>

set -o errexit -o nounset -o pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."

folder=$1

# source_of prints the folder of the source of a library.
source_of() { # module library
  (cd "$1" && go list -m -f '{{.Dir}}' "$2")
}

hack/go-build.sh hack/argocd . "${folder}/argocd" -ldflags '-s -w'
argocd=$(source_of hack/argocd github.com/argoproj/argo-cd/v3)
cat "${argocd}/manifests/core-install.yaml" >"${folder}/argocd.yaml"
# Argo CD runs it for each commit.
install "${argocd}/hack/git-verify-wrapper.sh" "${folder}/git-verify-wrapper.sh"

hack/go-build.sh hack/stern github.com/stern/stern "${folder}/stern" -ldflags '-s -w'

hack/go-build.sh hack/velero github.com/vmware-tanzu/velero/cmd/velero "${folder}/velero" -ldflags '-s -w'
# Velero starts every program in the folder of its plugins.
mkdir -p "${folder}/velero-plugins"
hack/go-build.sh hack/velero . "${folder}/velero-plugins/directory" -ldflags '-s -w'

hack/go-build.sh hack/gatekeeper github.com/open-policy-agent/gatekeeper/v3 "${folder}/gatekeeper" -ldflags '-s -w'
cat "$(source_of hack/gatekeeper github.com/open-policy-agent/gatekeeper/v3)/deploy/gatekeeper.yaml" >"${folder}/gatekeeper.yaml"

hack/go-build.sh hack/kyverno github.com/kyverno/kyverno/cmd/kyverno "${folder}/kyverno" -ldflags '-s -w'
cat "$(source_of hack/kyverno github.com/kyverno/kyverno)/config/install-latest-testing.yaml" >"${folder}/kyverno.yaml"
