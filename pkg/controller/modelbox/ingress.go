// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

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

// ingressClassAnnotation names the class of an Ingress that has no field for it.
const ingressClassAnnotation = "kubernetes.io/ingress.class"

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

// byClassWithAddress indexes those Ingresses that have an address by their class.
const byClassWithAddress = "classWithAddress"

func classWithAddress(obj any) ([]string, error) {
	ingress, ok := obj.(*networkingv1.Ingress)
	if !ok {
		return nil, fmt.Errorf("expected an Ingress, got %T", obj)
	}
	if len(ingressAddresses(ingress)) == 0 {
		return nil, nil
	}
	return []string{classNameOf(ingress)}, nil
}

// classNameOf returns the class of the Ingress, empty where it has none.
func classNameOf(ingress *networkingv1.Ingress) string {
	return cmp.Or(ptr.Deref(ingress.Spec.IngressClassName, ""), ingress.Annotations[ingressClassAnnotation])
}

// ingressAddresses returns where the Ingress is reached, as the controller of its class says.
func ingressAddresses(ingress *networkingv1.Ingress) []string {
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

// ingressClass is what is known of the class of an Ingress.
type ingressClass struct {
	name string
	// givesAddresses is whether an Ingress of the class has an address. A class has no other way to say that it gives them,
	// and of one that does not, nothing is waited for.
	givesAddresses bool
	// isMissing is whether there is no such IngressClass. A controller may work for a class of which there is only the name.
	isMissing bool
}

// recheckAfter is after how long to look at the class again, because no event reports that it exists now; 0 for not at all.
func (c ingressClass) recheckAfter() time.Duration {
	if c.isMissing {
		return children.RecheckPeriod
	}
	return 0
}

// ingressClassOf returns what is known of the class of the Ingress, which may be nil. The Ingresses are indexed by their class.
func ingressClassOf(ingress *networkingv1.Ingress, ingresses cache.Indexer, classes cache.SharedIndexInformer) (ingressClass, error) {
	if ingress == nil {
		return ingressClass{}, nil
	}
	class := ingressClass{name: classNameOf(ingress)}
	withAddress, err := ingresses.ByIndex(byClassWithAddress, class.name)
	if err != nil {
		return class, fmt.Errorf("looking up the Ingresses of class %q: %w", class.name, err)
	}
	class.givesAddresses = len(withAddress) > 0
	if classes.HasSynced() {
		_, exists, err := classes.GetStore().GetByKey(class.name)
		if err != nil {
			return class, fmt.Errorf("looking up IngressClass %q: %w", class.name, err)
		}
		class.isMissing = !exists && !class.givesAddresses
	}
	return class, nil
}

// ingressVerdict returns why the box cannot be reached by its Ingress, and what is to be known of it where it may be.
func ingressVerdict(ingress *networkingv1.Ingress, class ingressClass) (notReady *reconciler.Verdict, note string) {
	switch {
	case ingress == nil || len(ingressAddresses(ingress)) > 0:
		return nil, ""
	case class.givesAddresses:
		return &reconciler.Verdict{Reason: modelv1.ReasonIngressAddressPending, Message: fmt.Sprintf("the Ingress has no address from class %q yet", class.name)}, ""
	case class.isMissing && class.name == "":
		return nil, "the Ingress has no class: the cluster had no default one when it was created"
	case class.isMissing:
		return nil, fmt.Sprintf("there is no IngressClass %q", class.name)
	default:
		return nil, ""
	}
}
