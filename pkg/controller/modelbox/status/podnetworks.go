// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/networkattachment"
)

// PodNetworks are the interfaces of pods in other networks than the network of the cluster, in the order of the pods. A pod whose
// annotation cannot be read has none.
func PodNetworks(pods []*corev1.Pod) []modelv1.PodNetwork {
	var networks []modelv1.PodNetwork
	for _, pod := range pods {
		attachments, err := networkattachment.ParseStatus(pod.Annotations[networkattachment.StatusAnnotation])
		if err != nil {
			continue
		}
		for i := range attachments {
			networks = append(networks, podNetwork(pod, &attachments[i]))
		}
	}
	return networks
}

// describeUnattached words in which of the box's networks none of its pods has an interface, as where nothing in the cluster
// attaches pods. It is empty where there is no such network.
func describeUnattached(box *modelv1.ModelBox, pods []*corev1.Pod) string {
	if len(box.Spec.Networks) == 0 {
		return ""
	}
	interfaces := PodNetworks(pods)
	unattached := slices.DeleteFunc(slices.Clone(box.Spec.Networks), func(network string) bool {
		return slices.ContainsFunc(interfaces, func(i modelv1.PodNetwork) bool { return i.Network == network })
	})
	if len(unattached) == 0 {
		return ""
	}
	return fmt.Sprintf("no pod has an interface in the networks %s", strings.Join(unattached, ", "))
}

func podNetwork(pod *corev1.Pod, attachment *networkattachment.Attachment) modelv1.PodNetwork {
	network := modelv1.PodNetwork{Pod: pod.Name, Network: attachment.Name, Interface: attachment.Interface, MAC: attachment.MAC}
	if definition := attachment.Definition(pod.Namespace); definition.Namespace == pod.Namespace {
		network.Network = definition.Name
	}
	for _, address := range attachment.Addresses() {
		network.Addresses = append(network.Addresses, address.String())
	}
	return network
}
