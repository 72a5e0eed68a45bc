// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package model

// ModelBoxIgnoreDrift are the fields of the children that other field managers may own.
type ModelBoxIgnoreDrift struct {
	Deployment              []string
	StatefulSet             []string
	DaemonSet               []string
	Job                     []string
	CronJob                 []string
	Service                 []string
	Ingress                 []string
	HTTPRoute               []string
	GRPCRoute               []string
	HorizontalPodAutoscaler []string
	PodDisruptionBudget     []string
	NetworkPolicy           []string
}
