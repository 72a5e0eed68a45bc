// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package kinds

import (
	"cmp"
	"fmt"
	"time"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/childkinds"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	modelboxapply "github.com/sharelinuxs/modelbox-apiserver/pkg/apply/modelbox"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/reconciler"
)

// IngressClassAnnotation names the class of an Ingress that has no field for it.
const IngressClassAnnotation = "kubernetes.io/ingress.class"

// ingressKind returns the Ingresses of boxes as a kind of children.
func ingressKind(cluster kubernetes.Interface, informer cache.SharedIndexInformer) *children.Kind {
	kind := children.NewKind(modelboxapply.Kind(childkinds.Ingress), informer,
		func(namespace string) children.Client[*networkingv1.Ingress] {
			return cluster.NetworkingV1().Ingresses(namespace)
		})
	// The cluster's default class is set by the API when an Ingress is created, and not again.
	kind.PreservedFields = fieldpath.NewSet(fieldpath.MakePathOrDie("spec", "ingressClassName"))
	return kind
}

// ByClassWithAddress indexes those Ingresses that have an address by their class.
const ByClassWithAddress = "classWithAddress"

func ClassWithAddress(obj any) ([]string, error) {
	ingress, ok := obj.(*networkingv1.Ingress)
	if !ok {
		return nil, fmt.Errorf("expected an Ingress, got %T", obj)
	}
	if len(IngressAddresses(ingress)) == 0 {
		return nil, nil
	}
	return []string{classNameOf(ingress)}, nil
}

// classNameOf returns the class of the Ingress, empty if it has none.
func classNameOf(ingress *networkingv1.Ingress) string {
	return cmp.Or(ptr.Deref(ingress.Spec.IngressClassName, ""), ingress.Annotations[IngressClassAnnotation])
}

// IngressAddresses returns where the Ingress is reached, as the controller of its class says.
func IngressAddresses(ingress *networkingv1.Ingress) []string {
	if ingress == nil {
		return nil
	}
	var addresses []string
	for i := range ingress.Status.LoadBalancer.Ingress {
		point := &ingress.Status.LoadBalancer.Ingress[i]
		if address := cmp.Or(point.IP, point.Hostname); address != "" {
			addresses = append(addresses, address)
		}
	}
	return addresses
}

// IngressClass is what is known of the class of an Ingress.
type IngressClass struct {
	Name string
	// GivesAddresses is whether an Ingress of the class has an address. A class has no other way to say that it gives them,
	// and of one that does not, nothing is waited for.
	GivesAddresses bool
	// IsMissing is whether there is no such IngressClass. A controller may work for a class of which there is only the name.
	IsMissing bool
}

// RecheckAfter is after how long to look at the class again, because no event reports that it exists now; 0 for not at all.
func (c IngressClass) RecheckAfter() time.Duration {
	if c.IsMissing {
		return children.RecheckPeriod
	}
	return 0
}

// IngressClassOf returns what is known of the class of the Ingress, which may be nil. The Ingresses are indexed by their class.
func IngressClassOf(ingress *networkingv1.Ingress, ingresses cache.Indexer, classes cache.SharedIndexInformer) (IngressClass, error) {
	if ingress == nil {
		return IngressClass{}, nil
	}
	class := IngressClass{Name: classNameOf(ingress)}
	withAddress, err := ingresses.ByIndex(ByClassWithAddress, class.Name)
	if err != nil {
		return class, fmt.Errorf("looking up the Ingresses of class %q: %w", class.Name, err)
	}
	class.GivesAddresses = len(withAddress) > 0
	if classes.HasSynced() {
		_, exists, err := classes.GetStore().GetByKey(class.Name)
		if err != nil {
			return class, fmt.Errorf("looking up IngressClass %q: %w", class.Name, err)
		}
		class.IsMissing = !exists && !class.GivesAddresses
	}
	return class, nil
}

// IngressVerdict returns why the box cannot be reached by its Ingress, and what is to be known of it where it may be.
func IngressVerdict(ingress *networkingv1.Ingress, class IngressClass) (notReady *reconciler.Verdict, note string) {
	switch {
	case ingress == nil || len(IngressAddresses(ingress)) > 0:
		return nil, ""
	case class.GivesAddresses:
		return &reconciler.Verdict{Reason: modelv1.ReasonIngressAddressPending, Message: fmt.Sprintf("the Ingress has no address from class %q yet", class.Name)}, ""
	case class.IsMissing && class.Name == "":
		return nil, "the Ingress has no class: the cluster had no default one when it was created"
	case class.IsMissing:
		return nil, fmt.Sprintf("there is no IngressClass %q", class.Name)
	default:
		return nil, ""
	}
}
