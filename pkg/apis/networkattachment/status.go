// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package networkattachment

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"
)

// What is kept of a StatusAnnotation: anybody may write it who may write the pod.
const (
	maxAttachments = 32
	maxIPs         = 8
	maxNameLength  = 127 // a namespace, "/" and the name of a network
	maxFieldLength = 64
)

// Attachment is an interface of a pod in a network.
type Attachment struct {
	// Name is the name of the NetworkAttachmentDefinition, after its namespace and "/" if it has one.
	Name string `json:"name"`
	// Interface and MAC are empty where they are not known.
	Interface string `json:"interface,omitempty"`
	// IPs may have a prefix length.
	IPs []string `json:"ips,omitempty"`
	MAC string   `json:"mac,omitempty"`
	// Default says that it is the interface in the network of the cluster.
	Default bool `json:"default,omitempty"`
}

// Definition is what the attachment of a pod in the namespace is named after.
func (a *Attachment) Definition(podNamespace string) types.NamespacedName {
	if namespace, name, found := strings.Cut(a.Name, "/"); found {
		return types.NamespacedName{Namespace: namespace, Name: name}
	}
	return types.NamespacedName{Namespace: podNamespace, Name: a.Name}
}

// Addresses are the IPs that are valid, without prefix lengths.
func (a *Attachment) Addresses() []netip.Addr {
	var addresses []netip.Addr
	for _, ip := range a.IPs {
		ip, _, _ = strings.Cut(ip, "/")
		if address, err := netip.ParseAddr(ip); err == nil {
			addresses = append(addresses, address.Unmap())
		}
	}
	return addresses
}

// ParseStatus returns the attachments in the value of a StatusAnnotation, none for an empty value.
func ParseStatus(value string) ([]Attachment, error) {
	if value == "" {
		return nil, nil
	}
	var attachments []Attachment
	if err := json.Unmarshal([]byte(value), &attachments); err != nil {
		return nil, fmt.Errorf("decoding the annotation %s: %w", StatusAnnotation, err)
	}
	return attachments, nil
}

// TrimStatus returns the value of a StatusAnnotation with the attachments to other networks than the network of the cluster, and
// with no more of them than a pod can have. It is empty if there are none, or if the value cannot be parsed.
func TrimStatus(value string) string {
	attachments, err := ParseStatus(value)
	if err != nil {
		return ""
	}
	attachments = slices.DeleteFunc(attachments, func(a Attachment) bool { return a.Default || a.Name == "" || len(a.Name) > maxNameLength })
	if len(attachments) == 0 {
		return ""
	}
	attachments = attachments[:min(len(attachments), maxAttachments)]
	for i := range attachments {
		attachments[i].trim()
	}
	trimmed, err := json.Marshal(attachments)
	if err != nil {
		return ""
	}
	return string(trimmed)
}

func (a *Attachment) trim() {
	if len(a.Interface) > maxFieldLength {
		a.Interface = ""
	}
	if len(a.MAC) > maxFieldLength {
		a.MAC = ""
	}
	a.IPs = slices.DeleteFunc(a.IPs, func(ip string) bool { return len(ip) > maxFieldLength })
	a.IPs = a.IPs[:min(len(a.IPs), maxIPs)]
}
