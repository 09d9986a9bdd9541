// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Highway targets for which our kernels are compiled: AVX-512, AVX2 and the compiler's scalar baseline. Every source
// file with kernels includes it before <hwy/foreach_target.h>.
#pragma once

// SSE4 and SSSE3 are disabled: such machines are too old for training, and each target takes compile time.
#ifndef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SSE4 | HWY_SSSE3)
#endif
