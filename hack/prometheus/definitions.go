// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

//go:build tools

package prometheus

// Nothing of it is used but the CustomResourceDefinitions in its module, by pkg/e2e/clients.
import _ "github.com/prometheus-operator/prometheus-operator/pkg/versionutil"
