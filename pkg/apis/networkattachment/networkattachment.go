// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package networkattachment is what this server needs of the Kubernetes Network Custom Resource Definition De-facto Standard:
// the kind that describes networks, and the annotations of pods that select them and tell what came of it.
package networkattachment

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

const (
	// GroupName is the API group of network attachments.
	GroupName = "k8s.cni.cncf.io"

	// NetworksAnnotation of a pod selects the networks that it is attached to, in addition to the network of the cluster.
	NetworksAnnotation = "k8s.v1.cni.cncf.io/networks"
	// StatusAnnotation of a pod has what came of it.
	StatusAnnotation = "k8s.v1.cni.cncf.io/network-status"
)

var (
	// Kind is the kind of NetworkAttachmentDefinitions.
	Kind = schema.GroupVersionKind{Group: GroupName, Version: "v1", Kind: "NetworkAttachmentDefinition"}
	// Resource is the resource of NetworkAttachmentDefinitions.
	Resource = Kind.GroupVersion().WithResource("network-attachment-definitions")
)

// Selection is the value of NetworksAnnotation for the definitions of these names in the namespace of the pod.
func Selection(names []string) string { return strings.Join(names, ",") }
