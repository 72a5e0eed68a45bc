// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package informers

import (
	"fmt"

	"k8s.io/client-go/tools/cache"
)

// AddIndex adds an index to an informer that is not started yet, unless another controller has added the one of the
// same name. Controllers that share an informer have to mean the same by a name.
func AddIndex(informer cache.SharedIndexInformer, name string, index cache.IndexFunc) error {
	if _, exists := informer.GetIndexer().GetIndexers()[name]; exists {
		return nil
	}
	if err := informer.AddIndexers(cache.Indexers{name: index}); err != nil {
		return fmt.Errorf("adding index %s: %w", name, err)
	}
	return nil
}
