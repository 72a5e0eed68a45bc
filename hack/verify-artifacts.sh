#!/usr/bin/env bash
# SPDX-FileCopyrightText: The ModelBox Authors
# SPDX-License-Identifier: Apache-2.0

# Fails when the Helm chart installs other objects than the kustomize overlays, does not refuse nonsense, or has lint. Fails when a
# file for Argo CD, Flux, k9s or admission policies does not do what it should.

set -o errexit -o nounset -o pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/clients"

# The tests read files outside of their module. Go does not run tests again when such a file changes.
go test -count=1 ./chart ./ecosystem
