// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package references

import "github.com/sharelinuxs/modelbox-apiserver/pkg/controller/reconciler"

var processMetrics = reconciler.ProcessMetrics(Name, noun, "")
