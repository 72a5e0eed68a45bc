#!/usr/bin/env bash
# SPDX-FileCopyrightText: The ModelBox Authors
# SPDX-License-Identifier: Apache-2.0

# Fails when the Helm chart installs other objects than the kustomize overlays, does not refuse nonsense, or has lint.

set -o errexit -o nounset -o pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/clients"

# What it reads is outside of its module, where a change does not make Go test again.
go test -count=1 ./chart
