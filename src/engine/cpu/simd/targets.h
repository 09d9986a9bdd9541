// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Highway targets that our kernels are compiled for: AVX-512, AVX2 and the compiler's scalar baseline. Include before
// <hwy/foreach_target.h>, in every source file that has kernels.
#pragma once

// SSE4, SSSE3: too old to train on, and each target costs compile time.
#ifndef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SSE4 | HWY_SSSE3)
#endif
