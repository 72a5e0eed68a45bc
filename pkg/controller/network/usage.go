// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"fmt"
	"net/netip"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/networkattachment"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply"
)

// byNetwork indexes boxes and pods by the namespaces and names of the networks that they use.
const byNetwork = "network"

func indexByNetwork(obj any) ([]string, error) {
	object, ok := obj.(metav1.Object)
	if !ok {
		return nil, fmt.Errorf("expected an object with metadata, got %T", obj)
	}
	var keys []string
	for _, network := range networksOf(object) {
		keys = append(keys, network.String())
	}
	return keys, nil
}

// networksOf returns the networks of its namespace that a box asks for, or that a pod of a box is attached to.
func networksOf(object metav1.Object) []types.NamespacedName {
	var networks []types.NamespacedName
	switch object := object.(type) {
	case *modelv1.ModelBox:
		for _, name := range object.Spec.Networks {
			networks = append(networks, types.NamespacedName{Namespace: object.Namespace, Name: name})
		}
	case *corev1.Pod:
		for _, attachment := range attachmentsOf(object) {
			if network := attachment.Definition(object.Namespace); network.Namespace == object.Namespace {
				networks = append(networks, network)
			}
		}
	}
	return networks
}

// attachmentsOf returns what the pod is attached to as far as it can be read.
func attachmentsOf(pod *corev1.Pod) []networkattachment.Attachment {
	attachments, err := networkattachment.ParseStatus(pod.Annotations[networkattachment.StatusAnnotation])
	if err != nil {
		return nil
	}
	return attachments
}

// usage has the boxes that use a network, and how many of its addresses they use.
type usage struct {
	// boxes are sorted.
	boxes     []string
	addresses int
}

// usageOf returns the usage of the network as the caches have it.
func (c *Controller) usageOf(network *modelv1.Network) (*usage, error) {
	key := apply.KeyOf(network)
	cidr, err := netip.ParsePrefix(network.Spec.CIDR)
	if err != nil {
		return nil, fmt.Errorf("reading the cidr: %w", err)
	}
	asking, err := c.boxes.ByIndex(byNetwork, key.String())
	if err != nil {
		return nil, fmt.Errorf("looking up the boxes of the network: %w", err)
	}
	attached, err := c.pods.ByIndex(byNetwork, key.String())
	if err != nil {
		return nil, fmt.Errorf("looking up the pods of the network: %w", err)
	}
	boxes, addresses := sets.New[string](), sets.New[netip.Addr]()
	for _, box := range asking {
		boxes.Insert(box.(*modelv1.ModelBox).Name)
	}
	for _, object := range attached {
		pod := object.(*corev1.Pod)
		// The interfaces of a pod go with its containers.
		if pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
			continue
		}
		boxes.Insert(pod.Labels[modelv1.SelectorLabel])
		for _, attachment := range attachmentsOf(pod) {
			if attachment.Definition(pod.Namespace) != key {
				continue
			}
			for _, address := range attachment.Addresses() {
				if cidr.Contains(address) {
					addresses.Insert(address)
				}
			}
		}
	}
	return &usage{boxes: sets.List(boxes), addresses: addresses.Len()}, nil
}
