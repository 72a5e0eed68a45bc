// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// networkName is the name of the Network of the boxes, which must survive a disaster.
const networkName = "lan"

// createNetwork creates a Network and waits until it is Ready.
func (d *disaster) createNetwork(name string) {
	d.T.Helper()
	network := &modelv1.Network{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"example.com/applied-by": "gitops"}}}
	network.Spec.CIDR, network.Spec.Gateway = "10.10.0.0/24", "10.10.0.1"
	if _, err := d.Networks().Create(d.Ctx, network, metav1.CreateOptions{}); err != nil {
		d.T.Fatal(err)
	}
	d.Eventually("network "+name+" is Ready", func() error {
		network, err := d.Networks().Get(d.Ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		return checkNetworkReady(network)
	})
}

func checkNetworkReady(network *modelv1.Network) error {
	ready := meta.FindStatusCondition(network.Status.Conditions, modelv1.ConditionReady)
	if ready == nil || ready.Status != metav1.ConditionTrue || ready.ObservedGeneration != network.Generation {
		return fmt.Errorf("network %s: it has %+v", network.Name, ready)
	}
	return nil
}

// changeNetwork changes the spec and the labels of the Network.
func (d *disaster) changeNetwork() {
	d.T.Helper()
	pid := d.ControlPlane.ServerPID(d.T)
	patch := fmt.Sprintf(`{"metadata": {"labels": {"example.com/change": "%d"}}, "spec": {"mtu": %d}}`, pid, 1000+pid%400)
	if _, err := d.Networks().Patch(d.Ctx, networkName, types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
		d.T.Fatal(err)
	}
}

// deleteNetwork deletes an unused Network, and waits until its NetworkAttachmentDefinition is deleted.
func (d *disaster) deleteNetwork(name string) {
	d.T.Helper()
	if err := d.Networks().Delete(d.Ctx, name, metav1.DeleteOptions{}); err != nil {
		d.T.Fatal(err)
	}
	definitions := d.NetworkAttachments()
	framework.Eventually(d.T, framework.CollectorPatience, "the definition of network "+name+" is gone", func() error {
		_, err := definitions.Get(d.Ctx, name, metav1.GetOptions{})
		return framework.CheckGone(err)
	})
}

// addNetworks adds the Networks and their NetworkAttachmentDefinitions to the state. It returns an error if a Network is not Ready.
func (d *disaster) addNetworks(state *disasterState) error {
	networks, err := d.Networks().List(d.Ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for _, network := range networks.Items {
		if err := checkNetworkReady(&network); err != nil {
			return err
		}
		network.ResourceVersion, network.ManagedFields, network.Status = "", nil, modelv1.NetworkStatus{}
		state.Networks[network.Name] = network
	}
	definitions, err := d.NetworkAttachments().List(d.Ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for _, definition := range definitions.Items {
		state.Children["NetworkAttachmentDefinition "+definition.GetName()] = definition.GetUID()
	}
	return nil
}
