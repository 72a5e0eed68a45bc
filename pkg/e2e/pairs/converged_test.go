// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package pairs

import (
	"fmt"
	"math"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// claims are the resource of claims, which do not all go with what asks for them.
var claims = schema.GroupVersionResource{Version: "v1", Resource: "persistentvolumeclaims"}

// childResources are those that boxes become.
var childResources = []schema.GroupVersionResource{
	{Group: "apps", Version: "v1", Resource: "deployments"},
	{Group: "apps", Version: "v1", Resource: "statefulsets"},
	{Group: "apps", Version: "v1", Resource: "daemonsets"},
	{Version: "v1", Resource: "services"},
	{Version: "v1", Resource: "configmaps"},
	claims,
	{Group: "networking.k8s.io", Version: "v1", Resource: "ingresses"},
	{Group: "gateway.networking.k8s.io", Version: "v1", Resource: "httproutes"},
	{Group: "gateway.networking.k8s.io", Version: "v1", Resource: "grpcroutes"},
	{Group: "autoscaling", Version: "v2", Resource: "horizontalpodautoscalers"},
	{Group: "policy", Version: "v1", Resource: "poddisruptionbudgets"},
	{Group: "networking.k8s.io", Version: "v1", Resource: "networkpolicies"},
}

// checkNothingLeft returns nil when there is nothing that looks like a child of the box and that it does not ask for.
func (p *pair) checkNothingLeft(rendered []*unstructured.Unstructured) error {
	for _, resource := range childResources {
		found, err := p.List(resource, p.labels())
		if err != nil {
			return err
		}
		for i := range found {
			object := &found[i]
			isRendered := slices.ContainsFunc(rendered, func(child *unstructured.Unstructured) bool {
				return child.GetKind() == object.GetKind() && child.GetName() == object.GetName()
			})
			if !isRendered && !(resource == claims && p.mayStay(object)) {
				return fmt.Errorf("%s %s is left", object.GetKind(), object.GetName())
			}
		}
	}
	return nil
}

// mayStay returns whether a claim belongs to a pod, or to storage that was retained at any time.
//
// So may a claim without an owner of a StatefulSet that is replaced as soon as it is there: the StatefulSet controller creates a
// claim first and owns it later, and not at all when its pod fails in between.
func (p *pair) mayStay(claim *unstructured.Unstructured) bool {
	name := p.storageOf(claim.GetName())
	isOfPod := storageNamed(&p.wanted, name) != nil && p.wanted.Workload == statefulSet
	isNotOwnedYet := p.way.getsStuck && p.change.workload == statefulSet && len(claim.GetOwnerReferences()) == 0
	return isOfPod || isNotOwnedYet || retains(&p.before, name) || retains(&p.after, name)
}

// mustStay returns whether nothing may have deleted a claim that there was before.
func (p *pair) mustStay(claim string) bool {
	name := p.storageOf(claim)
	switch {
	case p.retained.Has(name):
		return true
	case p.way.isOfNewOnes && !p.way.keepsChildren:
		return false
	case p.way.deletesChildren && p.wanted.Workload == statefulSet:
		return false // It goes with its StatefulSet.
	}
	return p.way.isUnfinished || storageNamed(&p.after, name) != nil
}

// storageOf returns the name of the storage of a claim.
func (p *pair) storageOf(claim string) string {
	if name, isShared := strings.CutPrefix(claim, p.box+"-"); isShared {
		return name
	}
	name, _, _ := strings.Cut(claim, "-"+p.box+"-")
	return name
}

func retains(spec *modelv1.ModelBoxSpec, name string) bool {
	storage := storageNamed(spec, name)
	return storage != nil && (storage.Retain == nil || *storage.Retain)
}

// discards returns whether the change of the spec from one to the other deletes data.
func discards(from, to *modelv1.ModelBoxSpec) bool {
	return slices.ContainsFunc(from.Storage, func(storage modelv1.ModelBoxStorage) bool {
		return !*storage.Retain && storageNamed(to, storage.Name) == nil
	})
}

// expectClaims checks that no retained data is lost.
func (p *pair) expectClaims() {
	p.T.Helper()
	for i := range p.seen.claims {
		before := &p.seen.claims[i]
		if !p.mustStay(before.Name) {
			continue
		}
		switch now, err := p.Claims.Get(p.Ctx, before.Name, metav1.GetOptions{}); {
		case err != nil:
			p.T.Errorf("PersistentVolumeClaim %s: %v", before.Name, err)
		case now.UID != before.UID:
			p.T.Errorf("PersistentVolumeClaim %s is another one", before.Name)
		case now.DeletionTimestamp != nil:
			p.T.Errorf("PersistentVolumeClaim %s is being deleted", before.Name)
		}
	}
}

// keepsPods returns whether the change needs no deletion of a serving pod, except for surplus pods.
func (p *pair) keepsPods() bool {
	switch {
	case p.way.replacesPods, p.way.isOfNewOnes && !p.way.keepsChildren, p.way.getsStuck && p.after.Strategy == modelv1.StrategyRecreate:
		return false
	case p.change.workload == deployment && p.way.isUnfinished:
		return true
	}
	// Only a Deployment keeps its pods until new pods are available.
	return p.change.pods == kept && (p.change.workload == deployment || !p.way.getsStuck)
}

func (p *pair) expectPods() {
	p.T.Helper()
	now, stayed := p.PodUIDs(p.box), 0
	for name, uid := range p.seen.pods {
		if now[name] == uid {
			stayed++
		}
	}
	most := ptr.Deref(p.after.Replicas, math.MaxInt32)
	if want := min(len(p.seen.pods), len(now), int(most)); p.keepsPods() && stayed < want {
		p.T.Errorf("of the pods %v, %d stayed, want %d: now there are %v", p.seen.pods, stayed, want, now)
	}
}
